import HTTPTypes
import Hummingbird
import NIOCore

/// One of the files that the page consists of.
struct PageFile {
    private let type: String
    private let bytes: [UInt8]

    /// - Parameter name: The file's name; empty for the page itself.
    init?(_ name: String) {
        switch name {
        case "": (type, bytes) = ("text/html", PackageResources.page_html)
        case "page.css": (type, bytes) = ("text/css", PackageResources.page_css)
        case "icon.svg": (type, bytes) = ("image/svg+xml", PackageResources.icon_svg)
        case "page.js": (type, bytes) = ("text/javascript", PackageResources.page_js)
        case "text.js": (type, bytes) = ("text/javascript", PackageResources.text_js)
        case "server.js": (type, bytes) = ("text/javascript", PackageResources.server_js)
        case "home.js": (type, bytes) = ("text/javascript", PackageResources.home_js)
        case "suite.js": (type, bytes) = ("text/javascript", PackageResources.suite_js)
        case "list.js": (type, bytes) = ("text/javascript", PackageResources.list_js)
        case "detail.js": (type, bytes) = ("text/javascript", PackageResources.detail_js)
        case "editor.js": (type, bytes) = ("text/javascript", PackageResources.editor_js)
        case "drafts.js": (type, bytes) = ("text/javascript", PackageResources.drafts_js)
        case "condition.js": (type, bytes) = ("text/javascript", PackageResources.condition_js)
        default: return nil
        }
    }

    var response: Response {
        Response(
            status: .ok,
            headers: [.contentType: "\(type); charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
