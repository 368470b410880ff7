// Package upgrade shows that the programs of an older commit work on the schema of the tree, and
// that the programs of the tree can replace them (make upgrade).
package upgrade
