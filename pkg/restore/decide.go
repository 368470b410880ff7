package restore

import (
	"fmt"
	"strings"
)

// A verdict is the decision about a database when its program starts.
type verdict int

const (
	// wait for more evidence.
	wait verdict = iota
	// open the database for writes.
	open
	// leapSmall skips the ids that may have been given within the last seconds, and opens the
	// database.
	leapSmall
	// leapFull skips all ids that may have been lost, and opens the database.
	leapFull
	// refuse writes until an operator has finished the restore.
	refuse
)

// evidence is the knowledge of others about the watermarks of a database.
type evidence struct {
	// watermarks are the highest known watermarks, or nil.
	watermarks *Watermarks
	// firstHand means that the service itself published them.
	firstHand bool
	// complete means that no more evidence will arrive: the bucket was read, and the other services
	// had time to add the watermarks that they have witnessed.
	complete bool
	// read means that the bucket was read.
	read bool
	// overdue means that the broker has not responded for brokerWait.
	overdue bool
}

// decide returns the verdict about a database that was not opened yet, and the reason if it refuses
// writes.
func decide(has snapshot, e evidence) (verdict, string) {
	if has.restored {
		return refuse, has.reason
	}
	recorded := has.recordedPlace != ""
	moved := recorded && (has.recordedPlace != has.place || has.recordedTimeline != has.timeline)
	if e.watermarks != nil {
		if above := e.watermarks.Lost(has.watermarks); len(above) > 0 {
			return refuse, lostReason(above)
		}
		switch {
		case !e.firstHand && moved:
			// The other databases may have been restored together with it.
			return waitOr(e.complete, refuse), movedReason
		case !e.firstHand:
			return waitOr(e.complete, leapFull), ""
		case moved:
			return leapSmall, ""
		}
		return open, ""
	}
	if !recorded && has.fresh {
		// A new installation waits only for the bucket.
		if e.read || e.overdue {
			return open, ""
		}
		return wait, ""
	}
	switch {
	case moved && e.complete:
		return refuse, movedReason
	case moved:
		return wait, ""
	case e.complete || e.overdue:
		return leapFull, ""
	}
	return wait, ""
}

const movedReason = "the database is a copy or was recovered to a moment, and the broker has lost its watermarks"

// waitOr returns a verdict once the evidence is complete.
func waitOr(complete bool, then verdict) verdict {
	if complete {
		return then
	}
	return wait
}

func lostReason(above []string) string {
	const shown = 5
	more := ""
	if len(above) > shown {
		above, more = above[:shown], fmt.Sprintf(" and %d more", len(above)-shown)
	}
	return "the database went back in time: there is evidence of higher watermarks of " + strings.Join(above, ", ") + more
}
