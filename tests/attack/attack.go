// Package attack attacks the running product as a malicious caller could: without a token, with an
// ordinary user's token, or with the token of another tenant's administrator. Each attack must
// fail, and must leave a server that serves all other callers, without a 500 and without a panic.
//
// Attacks that can share a server are registered with attack, in an init function of their file,
// and run in TestAttacks. Attacks that need their own settings or their own process are separate
// tests. ROTALOOM_ATTACK=long (make attack) runs the long form of the attacks that have one.
package attack
