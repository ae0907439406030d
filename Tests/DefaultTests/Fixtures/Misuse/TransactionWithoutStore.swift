// A transaction is one of a store
import Default

try Defaults.transaction { Defaults["a"] = 1 }
