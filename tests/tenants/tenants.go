// Package tenants shows that tenants can share an installation without knowing of each other: a
// request that names another tenant's object fails as if the object did not exist.
//
// The product runs twice, each time without one of its two safeguards. In one run, every "tenant_id
// = $n" of its statements is replaced by a true condition on the way to the database, so that only
// row-level security separates the tenants. In the other run, row-level security is switched off,
// and only the statements separate them.
package tenants
