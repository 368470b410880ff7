// Package operation tests the standalone program from an operator's view: its messages when it
// cannot start, how it stops, the data that survives a crash, and the connections that its listener
// rejects.
package operation
