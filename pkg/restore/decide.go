package restore

import (
	"fmt"
	"strings"
)

// A verdict is what becomes of a database when its program starts.
type verdict int

const (
	// wait for more evidence.
	wait verdict = iota
	// open the database for writes.
	open
	// leapSmall opens it once ids that nobody noted are left out: those of the last seconds.
	leapSmall
	// leapFull opens it once all ids are left out that may have been lost.
	leapFull
	// refuse writes until an operator has finished the restore.
	refuse
)

// evidence is what others know about the marks of a database.
type evidence struct {
	// marks are the highest that are known; nil when none are.
	marks *Marks
	// firstHand says that the service itself published them.
	firstHand bool
	// complete says that no more is to be expected: the bucket was read, and the other
	// services had time to add what they have witnessed.
	complete bool
	// read says that the bucket was read.
	read bool
	// overdue says that the broker has not responded for a while.
	overdue bool
}

// decide returns what becomes of a database that has not been opened yet, and why when
// writes are refused.
func decide(has snapshot, e evidence) (verdict, string) {
	if has.restored {
		return refuse, has.reason
	}
	recorded := has.recordedPlace != ""
	moved := recorded && (has.recordedPlace != has.place || has.recordedTimeline != has.timeline)
	if e.marks != nil {
		if above := e.marks.Lost(has.marks); len(above) > 0 {
			return refuse, lostReason(above)
		}
		switch {
		case !e.firstHand && moved:
			// Others may have been restored together with it.
			return waitOr(e.complete, refuse), movedReason
		case !e.firstHand:
			return waitOr(e.complete, leapFull), ""
		case moved:
			return leapSmall, ""
		}
		return open, ""
	}
	if !recorded && has.fresh {
		// A new installation. Nothing is waited for but the bucket.
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

const movedReason = "the database is a copy or was recovered to a moment, and the broker has lost its marks"

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
	return "the database went back in time: others know higher marks of " + strings.Join(above, ", ") + more
}
