// The root of Objective-C's classes: developer.apple.com/documentation/objectivec, nsobject-swift.class, nsinteger.
#ifndef OBJECTIVEC_STUB_H
#define OBJECTIVEC_STUB_H
#include <stdint.h>
#include <stddef.h>
#pragma clang assume_nonnull begin
typedef _Bool BOOL;
typedef long NSInteger;
typedef unsigned long NSUInteger;
@protocol NSObject
@end
__attribute__((objc_root_class))
@interface NSObject <NSObject>
- (instancetype)init;
+ (instancetype)alloc;
@property (readonly) NSUInteger hash;
- (BOOL)isEqual:(nullable id)object;
@end
// objectivec/objc_associationpolicy, objc_setassociatedobject(_:_:_:_:), objc_getassociatedobject(_:_:)
typedef enum __attribute__((enum_extensibility(open))) objc_AssociationPolicy : unsigned long {
    OBJC_ASSOCIATION_ASSIGN = 0,
    OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
    OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
    OBJC_ASSOCIATION_RETAIN = 769,
    OBJC_ASSOCIATION_COPY = 771
} objc_AssociationPolicy;
void objc_setAssociatedObject(id object, const void *key, _Nullable id value, objc_AssociationPolicy policy);
_Nullable id objc_getAssociatedObject(id object, const void *key);
#pragma clang assume_nonnull end
#endif
