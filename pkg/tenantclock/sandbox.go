package tenantclock

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// CodeNoSandbox (404): the tenant is not a sandbox, so it has the real time and no clock that can be set. Ask an operator for a sandbox.
const CodeNoSandbox = "WRL-60901"

// NoSandbox returns the fault (404) of a tenant that is not a sandbox.
func NoSandbox() error {
	return fault.NotFound(CodeNoSandbox, "This tenant is not a sandbox, so it has no clock that can be set. An operator creates a sandbox with rotaloom tenant create --sandbox.")
}

// maxYears is how far the clock of a sandbox can be ahead of the real time.
const maxYears = 10

// Latest returns the latest time to which the clock of a sandbox can advance at a moment of real time:
// ten years later.
func Latest(now time.Time) time.Time { return now.AddDate(maxYears, 0, 0) }
