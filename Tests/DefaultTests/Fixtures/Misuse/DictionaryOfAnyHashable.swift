// use Any instead of AnyObject or AnyHashable
import Default

let key = DefaultsKey<[String: AnyHashable]>("key")
