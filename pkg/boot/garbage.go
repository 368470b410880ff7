package boot

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much garbage there may be before it is collected, in percent
// of what is in use. Our programs hold little between requests and make much in
// one, so that Go's 100 collects several times while a large answer is made.
const gcPercent = 300

// tuneCollector sets the garbage collector, unless the operator did (GOGC).
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
