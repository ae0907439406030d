// What the sources use of Foundation's Objective-C classes, written from the documented interface. Above each group is the
// page of developer.apple.com/documentation that its signatures are known from. The headers themselves were not consulted.
#ifndef FOUNDATION_STUB_H
#define FOUNDATION_STUB_H
#include <objectivec_stub.h>
#include <darwin.h>
#pragma clang assume_nonnull begin
@class NSString, NSData, NSDate, NSURL, NSError, NSNumber, NSNotification;
// foundation/nscopying, nscoding, nssecurecoding: no requirements, as far as the sources need them.
@protocol NSCopying @end
@protocol NSCoding @end
@protocol NSSecureCoding <NSCoding> @end
// foundation/nsstring, nsdata, nsdate, nsurl, nsarray, nsdictionary, nsset, nsnull: bridged to values of Swift.
__attribute__((swift_bridge("Swift.String")))
@interface NSString : NSObject <NSCopying, NSSecureCoding>
@property (readonly) NSInteger integerValue;
@property (readonly) double doubleValue;
@property (readonly) BOOL boolValue;
@property (readonly, copy) NSString *stringByExpandingTildeInPath __attribute__((swift_name("expandingTildeInPath")));
@end
__attribute__((swift_bridge("Foundation.Data")))
@interface NSData : NSObject <NSCopying, NSSecureCoding>
@property (readonly) NSUInteger length;
@end
__attribute__((swift_bridge("Foundation.Date")))
@interface NSDate : NSObject <NSCopying, NSSecureCoding>
@end
__attribute__((swift_bridge("Foundation.URL")))
@interface NSURL : NSObject <NSCopying, NSSecureCoding>
@end
__attribute__((swift_bridge("Swift.Array")))
@interface NSArray<__covariant ObjectType> : NSObject <NSCopying, NSSecureCoding>
@property (readonly) NSUInteger count;
@end
__attribute__((swift_bridge("Swift.Dictionary")))
@interface NSDictionary<__covariant KeyType, __covariant ObjectType> : NSObject <NSCopying, NSSecureCoding>
@property (readonly) NSUInteger count;
@end
__attribute__((swift_bridge("Swift.Set")))
@interface NSSet<__covariant ObjectType> : NSObject <NSCopying, NSSecureCoding>
@property (readonly) NSUInteger count;
@end
@interface NSNull : NSObject
@end
// foundation/nsvalue, nsnumber
@interface NSValue : NSObject <NSCopying, NSSecureCoding>
@property (readonly) const char *objCType __attribute__((objc_returns_inner_pointer));
@end
@interface NSNumber : NSValue
- (instancetype)initWithBool:(BOOL)value __attribute__((swift_name("init(value:)")));
- (instancetype)initWithLongLong:(long long)value __attribute__((swift_name("init(value:)")));
- (instancetype)initWithUnsignedLongLong:(unsigned long long)value __attribute__((swift_name("init(value:)")));
- (instancetype)initWithDouble:(double)value __attribute__((swift_name("init(value:)")));
- (instancetype)initWithInteger:(NSInteger)value __attribute__((swift_name("init(value:)")));
@property (readonly) BOOL boolValue;
@property (readonly, copy) NSString *stringValue;
@property (readonly) NSInteger integerValue __attribute__((swift_name("intValue")));
@property (readonly) double doubleValue;
@property (readonly) unsigned long long unsignedLongLongValue __attribute__((swift_name("uint64Value")));
@end
// foundation/nserror
@interface NSError : NSObject <NSCopying, NSSecureCoding>
@property (readonly, copy) NSString *domain;
@property (readonly) NSInteger code;
@end
// foundation/nsuserdefaults
__attribute__((swift_name("UserDefaults")))
@interface NSUserDefaults : NSObject
@property (class, readonly, strong) NSUserDefaults *standardUserDefaults __attribute__((swift_name("standard")));
- (instancetype)init;
- (nullable instancetype)initWithSuiteName:(nullable NSString *)suitename;
- (nullable id)objectForKey:(NSString *)defaultName;
- (void)setObject:(nullable id)value forKey:(NSString *)defaultName __attribute__((swift_name("set(_:forKey:)")));
- (void)removeObjectForKey:(NSString *)defaultName;
- (nullable NSString *)stringForKey:(NSString *)defaultName;
- (nullable NSArray *)arrayForKey:(NSString *)defaultName;
- (nullable NSDictionary<NSString *, id> *)dictionaryForKey:(NSString *)defaultName;
- (nullable NSData *)dataForKey:(NSString *)defaultName;
- (NSInteger)integerForKey:(NSString *)defaultName;
- (double)doubleForKey:(NSString *)defaultName;
- (BOOL)boolForKey:(NSString *)defaultName;
- (void)setInteger:(NSInteger)value forKey:(NSString *)defaultName __attribute__((swift_name("set(_:forKey:)")));
- (void)setDouble:(double)value forKey:(NSString *)defaultName __attribute__((swift_name("set(_:forKey:)")));
- (void)setFloat:(float)value forKey:(NSString *)defaultName __attribute__((swift_name("set(_:forKey:)")));
- (void)setBool:(BOOL)value forKey:(NSString *)defaultName __attribute__((swift_name("set(_:forKey:)")));
- (void)setURL:(nullable NSURL *)url forKey:(NSString *)defaultName __attribute__((swift_name("set(_:forKey:)")));
- (nullable NSURL *)URLForKey:(NSString *)defaultName __attribute__((swift_name("url(forKey:)")));
- (void)registerDefaults:(NSDictionary<NSString *, id> *)registrationDictionary __attribute__((swift_name("register(defaults:)")));
- (NSDictionary<NSString *, id> *)dictionaryRepresentation;
- (BOOL)synchronize;
- (BOOL)objectIsForcedForKey:(NSString *)key;
- (NSDictionary<NSString *, id> *)volatileDomainForName:(NSString *)domainName;
- (nullable NSDictionary<NSString *, id> *)persistentDomainForName:(NSString *)domainName;
@end
// objectivec/nsobject-swift.class/key-value_coding (archive: Key-Value Coding Programming Guide): every object of Apple's
// systems has it, none elsewhere.
@interface NSObject (KeyValueCoding)
- (nullable id)valueForKey:(NSString *)key;
- (void)setValue:(nullable id)value forKey:(NSString *)key;
- (nullable id)valueForKeyPath:(NSString *)keyPath;
- (void)setValue:(nullable id)value forKeyPath:(NSString *)keyPath;
@end
// foundation/nskeyvalueobservingoptions, objectivec/nsobject-swift.class/addobserver(_:forkeypath:options:context:)
typedef enum __attribute__((flag_enum, enum_extensibility(open))) NSKeyValueObservingOptions : NSUInteger NSKeyValueObservingOptions;
enum __attribute__((flag_enum, enum_extensibility(open))) NSKeyValueObservingOptions : NSUInteger {
    NSKeyValueObservingOptionNew = 1,
    NSKeyValueObservingOptionOld = 2,
    NSKeyValueObservingOptionInitial = 4,
    NSKeyValueObservingOptionPrior = 8
};
@interface NSObject (KeyValueObserving)
- (void)addObserver:(NSObject *)observer forKeyPath:(NSString *)keyPath options:(NSKeyValueObservingOptions)options context:(nullable void *)context;
- (void)removeObserver:(NSObject *)observer forKeyPath:(NSString *)keyPath context:(nullable void *)context;
- (void)removeObserver:(NSObject *)observer forKeyPath:(NSString *)keyPath;
@end
// foundation/nsargumentdomain
extern NSString *const NSArgumentDomain __attribute__((swift_name("UserDefaults.argumentDomain")));
extern NSString *const NSRegistrationDomain __attribute__((swift_name("UserDefaults.registrationDomain")));
// foundation/nskeyvaluechangekey, objectivec/nsobject-swift.class/observevalue(forkeypath:of:change:context:)
typedef NSString *NSKeyValueChangeKey __attribute__((swift_newtype(enum)));
@interface NSObject (KeyValueObservation)
- (void)observeValueForKeyPath:(nullable NSString *)keyPath ofObject:(nullable id)object change:(nullable NSDictionary<NSKeyValueChangeKey, id> *)change context:(nullable void *)context __attribute__((swift_name("observeValue(forKeyPath:of:change:context:)")));
@end
// foundation/nsnotification, nsnotificationcenter, nsuserdefaultsdidchangenotification, nsoperationqueue
typedef NSString *NSNotificationName __attribute__((swift_newtype(struct))) __attribute__((swift_name("NSNotification.Name")));
extern NSNotificationName const NSUserDefaultsDidChangeNotification __attribute__((swift_name("UserDefaults.didChangeNotification")));
__attribute__((swift_bridge("Foundation.Notification")))
@interface NSNotification : NSObject
@property (readonly, copy) NSNotificationName name;
@property (nullable, readonly, strong) id object;
@end
__attribute__((swift_name("OperationQueue")))
@interface NSOperationQueue : NSObject
@end
__attribute__((swift_name("NotificationCenter"), swift_attr("@Sendable")))
@interface NSNotificationCenter : NSObject
@property (class, readonly, strong) NSNotificationCenter *defaultCenter __attribute__((swift_name("default")));
- (id <NSObject>)addObserverForName:(nullable NSNotificationName)name object:(nullable id)obj queue:(nullable NSOperationQueue *)queue usingBlock:(void (^ __attribute__((swift_attr("@Sendable"))))(NSNotification *note))block __attribute__((swift_name("addObserver(forName:object:queue:using:)")));
- (void)removeObserver:(id)observer;
@end
// foundation/nslocking, nslock, nsrecursivelock, nscondition
@protocol NSLocking
- (void)lock;
- (void)unlock;
@end
__attribute__((swift_attr("@Sendable")))
@interface NSRecursiveLock : NSObject <NSLocking>
@end
__attribute__((swift_attr("@Sendable")))
@interface NSLock : NSObject <NSLocking>
@end
__attribute__((swift_attr("@Sendable")))
@interface NSCondition : NSObject <NSLocking>
- (void)wait;
- (BOOL)waitUntilDate:(NSDate *)limit __attribute__((swift_name("wait(until:)")));
- (void)signal;
- (void)broadcast;
@end
// foundation/nsthread
__attribute__((swift_name("Thread"), swift_attr("@Sendable")))
@interface NSThread : NSObject
@property (class, readonly, strong) NSThread *currentThread __attribute__((swift_name("current")));
- (instancetype)initWithBlock:(void (^ __attribute__((swift_attr("@Sendable"))))(void))block;
@property NSUInteger stackSize;
- (void)start;
@end
// foundation/nsfilemanager, nssearchpathdirectory, nssearchpathdomainmask
typedef enum __attribute__((enum_extensibility(open), swift_name("FileManager.SearchPathDirectory"))) NSSearchPathDirectory : NSUInteger NSSearchPathDirectory;
enum __attribute__((enum_extensibility(open), swift_name("FileManager.SearchPathDirectory"))) NSSearchPathDirectory : NSUInteger {
    NSLibraryDirectory = 5,
    NSCachesDirectory = 13,
    NSApplicationSupportDirectory = 14
};
typedef enum __attribute__((flag_enum, enum_extensibility(open), swift_name("FileManager.SearchPathDomainMask"))) NSSearchPathDomainMask : NSUInteger NSSearchPathDomainMask;
enum __attribute__((flag_enum, enum_extensibility(open), swift_name("FileManager.SearchPathDomainMask"))) NSSearchPathDomainMask : NSUInteger {
    NSUserDomainMask = 1
};
// foundation/fileattributekey, fileprotectiontype
typedef NSString *NSFileAttributeKey __attribute__((swift_newtype(struct))) __attribute__((swift_name("FileAttributeKey")));
typedef NSString *NSFileProtectionType __attribute__((swift_newtype(struct))) __attribute__((swift_name("FileProtectionType")));
extern NSFileAttributeKey const NSFileProtectionKey __attribute__((swift_name("FileAttributeKey.protectionKey")));
extern NSFileProtectionType const NSFileProtectionCompleteUntilFirstUserAuthentication __attribute__((swift_name("FileProtectionType.completeUntilFirstUserAuthentication")));
__attribute__((swift_name("FileManager"), swift_attr("@Sendable")))
@interface NSFileManager : NSObject
@property (class, readonly, strong) NSFileManager *defaultManager __attribute__((swift_name("default")));
- (BOOL)fileExistsAtPath:(NSString *)path;
- (nullable NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path error:(NSError *_Nullable *_Nullable)error;
- (BOOL)setAttributes:(NSDictionary<NSFileAttributeKey, id> *)attributes ofItemAtPath:(NSString *)path error:(NSError *_Nullable *_Nullable)error;
- (NSArray<NSURL *> *)URLsForDirectory:(NSSearchPathDirectory)directory inDomains:(NSSearchPathDomainMask)domainMask __attribute__((swift_name("urls(for:in:)")));
@end
// foundation/nsprocessinfo, nsfilepatherrorkey, nsmutablearray
__attribute__((swift_name("ProcessInfo"), swift_attr("@Sendable")))
@interface NSProcessInfo : NSObject
@property (class, readonly, strong) NSProcessInfo *processInfo;
@property (copy) NSString *processName;
@property (readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property (readonly, copy) NSArray<NSString *> *arguments;
- (void)performExpiringActivityWithReason:(NSString *)reason usingBlock:(void (^ __attribute__((swift_attr("@Sendable"))))(BOOL expired))block __attribute__((swift_name("performExpiringActivity(withReason:using:)"), availability(macos, unavailable), availability(ios, introduced=8.2)));
@end
extern NSString *const NSFilePathErrorKey;
@interface NSMutableArray<ObjectType> : NSArray<ObjectType>
@end
#pragma clang assume_nonnull end
#endif
