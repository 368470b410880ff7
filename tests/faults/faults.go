// Package faults shows that the product keeps its promises during faults: processes are killed, the
// broker and the database go down and come back, and changes race. Every test uses real processes,
// over the network only.
//
// The short form runs with all other tests. ROTALOOM_FAULTS=long makes the tests larger and repeats
// them more often. ROTALOOM_FAULTS=ci does so only for the tests that kill processes, which fit
// into the time of CI. ROTALOOM_OWN_WRITES=1000 sets the number of employees whose clients read
// their own writes.
package faults
