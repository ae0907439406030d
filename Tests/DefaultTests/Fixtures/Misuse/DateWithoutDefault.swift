// requires that 'Date' conform to 'EmptyValueProviding'
import Default
import Foundation

let installed = DefaultsKey<Date>("installed")
