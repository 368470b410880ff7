// Package storedrows reads the rows that schedules are built from, as they are now or were at an
// earlier instant: one statement returns the rows of all kinds from one snapshot.
package storedrows
