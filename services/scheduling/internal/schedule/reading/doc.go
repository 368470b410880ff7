// Package reading puts schedules together: what spans say, what people entered,
// which days are locked and who is on leave, for the employees and days that a
// request names.
//
// Nothing of what a pattern produces is stored day by day. The entries of a
// pattern are compiled once (package encoding); reading says which of them stand
// on which day, and takes from shifts what leave covers.
package reading
