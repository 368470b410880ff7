package device

import (
	"time"

	"google.golang.org/protobuf/proto"

	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)

// awayAfter is the silence after which a device counts as away. Devices should report their state
// at least every five minutes, so that two lost reports do not matter.
const awayAfter = 15 * time.Minute

// States of devices.
const (
	stateInactive  = "INACTIVE"
	stateNeverSeen = "NEVER_SEEN"
	stateActive    = "ACTIVE"
	stateAway      = "AWAY"
)

// show returns the state of a device at a time. It follows from the last request of the device, so
// that no job has to notice that a device has become silent.
func (r reported) show(active bool, now time.Time) *udmv1.DeviceState {
	out := &udmv1.DeviceState{State: stateNeverSeen, SoftwareVersion: r.SoftwareVersion, ClockOffset: r.ClockOffset}
	if r.SeenAt != nil {
		out.State, out.LastSeen = stateActive, r.SeenAt.UTC().Format(time.RFC3339)
		if now.Sub(*r.SeenAt) > awayAfter {
			out.State = stateAway
		}
	}
	if !active {
		out.State = stateInactive
	}
	return out
}

// clockOffset returns the number of whole seconds to add to the times of a clock that shows a time
// now.
func clockOffset(shown, now time.Time) *int64 {
	return proto.Int64(int64(now.Sub(shown) / time.Second))
}

// parseInstant parses a time of a device with its offset from UTC.
func parseInstant(path, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, invalid("%s is missing", path)
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1900 || at.Year() >= 3000 {
		return time.Time{}, invalid("%s must be a time from the years 1900 to 2999 as in RFC 3339, such as 2026-11-01T06:30:00+01:00", path)
	}
	return at, nil
}
