// A key for this type needs a default: Key("name", default: value).
import Default
import Foundation

let installed = DefaultsKey<Date>("installed")
