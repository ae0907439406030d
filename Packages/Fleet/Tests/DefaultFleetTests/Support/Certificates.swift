import Foundation

/// An authority, and certificates from it, made with OpenSSL.
struct Certificates {
    let directory: URL

    init(in directory: URL) throws {
        self.directory = directory
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try openssl("req", "-x509", "-subj", "/CN=authority", "-days", "2", "-keyout", "ca-key.pem", "-out", "ca.pem")
        try make("member", subject: "/CN=member")
    }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Makes `<name>.pem` and `<name>-key.pem`, for a program or a member on the loopback address.
    ///
    /// A certificate that is valid for no day has expired.
    func make(_ name: String, subject: String, days: Int = 2) throws {
        try openssl("req", "-subj", subject, "-keyout", "\(name)-key.pem", "-out", "\(name).csr")
        try Data("subjectAltName=IP:127.0.0.1\n".utf8).write(to: directory.appendingPathComponent("extensions"))
        try TestCluster.run(
            "openssl",
            [
                "x509", "-req", "-in", path("\(name).csr"), "-CA", path("ca.pem"), "-CAkey", path("ca-key.pem"),
                "-CAcreateserial", "-days", "\(days)", "-extfile", path("extensions"), "-out", path("\(name).pem"),
            ]
        )
    }

    private func openssl(_ command: String, _ arguments: String...) throws {
        let files = arguments.map { $0.hasSuffix(".pem") || $0.hasSuffix(".csr") ? path($0) : $0 }
        try TestCluster.run("openssl", [command, "-newkey", "rsa:2048", "-nodes"] + files)
    }
}
