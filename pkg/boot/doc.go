// Package boot starts and stops programs: their settings, signals, log and
// admin listener, and the order in which the parts of a program
// come to their end.
package boot
