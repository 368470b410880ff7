// Package reading builds the windows of employees for a range of days from pattern spans, entered
// items, locked days and leave.
//
// Entries that a pattern generates are not stored. Package window compiles the entries of a
// pattern once; this package finds the entries of each day, and deducts leave from shifts.
package reading
