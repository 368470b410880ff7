// Package faults shows that the promise holds when things break: processes are
// killed, the broker and the database go away and come back, changes race.
// Every test speaks to real processes, over the network only.
//
// The short form runs with all other tests. ROTALOOM_FAULTS=long makes the
// tests larger and repeats them more often, and ROTALOOM_FAULTS=ci those of kills
// alone: CI has time for these. ROTALOOM_OWN_WRITES=1000 makes clients read their own writes for
// so many employees.
package faults
