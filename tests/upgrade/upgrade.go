// Package upgrade shows that the programs of an older commit serve on the schema of the
// tree, and that those of the tree take their place (make upgrade).
package upgrade
