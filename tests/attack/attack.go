// Package attack holds attacks on the running product: what somebody may try who
// means harm, with no token, with that of an ordinary user, or with that of another
// tenant's administrator. Each must come to nothing, and leave a server that serves
// everybody else, without a 500 and without a panic.
//
// What can share a server is registered with attack, in an init function of its file,
// and is a part of TestAttacks. What needs settings, or a process, of its own is a
// test of its own. ROTALOOM_ATTACK=long (make attack) makes those last that have a
// long form.
package attack
