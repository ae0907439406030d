public import Foundation

extension JSONEncoder: DefaultsEncoder {}
extension JSONDecoder: DefaultsDecoder {}
extension PropertyListEncoder: DefaultsEncoder {}
extension PropertyListDecoder: DefaultsDecoder {}
