#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension JSONEncoder: DefaultsEncoder {}
extension JSONDecoder: DefaultsDecoder {}
extension PropertyListEncoder: DefaultsEncoder {}
extension PropertyListDecoder: DefaultsDecoder {}
