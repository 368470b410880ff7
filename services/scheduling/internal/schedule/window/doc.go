// Package window holds the model of a schedule: a Window has the entries of persons on a range of
// days. Package reading builds it, and package encoding writes the response from it.
//
// A Template is the message of an entry as bytes. The entries of a pattern are compiled once, with
// placeholders for values that depend on the day. The message of an entry copies the bytes and
// fills the placeholders, so that no message is built for a generated entry.
package window
