// Package tenants shows that several tenants share an installation without
// knowing of each other: whatever one asks for by what belongs to another, it is
// refused as if that were nowhere.
//
// The product runs twice, each time with one of the two guards taken away. Once
// every "tenant_id = $n" of its statements is made true on the way to the database,
// so that row-level security alone keeps tenants apart; once row-level security is
// switched off, and the statements alone do.
package tenants
