package device

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
)

// recording is a punch as a device recorded it. Two recordings with the same sequence number must
// be equal.
type recording struct {
	// At is the time of the device's clock, in microseconds since 1970 in UTC.
	At                        int64
	BadgeNumber, PersonNumber string
	Direction                 int16
}

// maxKey is the maximum length of badges and person numbers, in bytes.
const maxKey = 1000

// parseRecording validates a punch of a request. It also returns the time of the device's clock
// with its offset from UTC.
func parseRecording(path string, p *udmv1.DevicePunch) (recording, time.Time, error) {
	r := recording{BadgeNumber: p.GetBadgeNumber(), PersonNumber: p.GetPersonNumber()}
	if err := fault.ExactlyOne(CodeInvalid, path, "badgeNumber and personNumber", r.BadgeNumber != "", r.PersonNumber != ""); err != nil {
		return r, time.Time{}, err
	}
	switch {
	case p.GetSequence() < 1:
		return r, time.Time{}, invalid("%s.sequence must be a number from 1", path)
	case len(r.BadgeNumber) > maxKey || len(r.PersonNumber) > maxKey:
		return r, time.Time{}, invalid("%s: badgeNumber and personNumber must have at most %d bytes", path, maxKey)
	}
	shown, err := parseInstant(path+".time", p.GetTime())
	if err != nil {
		return r, shown, err
	}
	direction, err := punch.ParseDirection(p.GetTypeOverride())
	r.At, r.Direction = shown.UnixMicro(), int16(direction)
	return r, shown, err
}

// storedPunch is a punch that a device sent earlier.
type storedPunch struct {
	Sequence int64
	recording
	ClockOffset, EmployeeID, PunchID int64
}

// correct returns a time of the device's clock with the correction of its request.
func (s storedPunch) correct() time.Time {
	return time.UnixMicro(s.At).Add(time.Duration(s.ClockOffset) * time.Second)
}

// key names the employee of a punch. The badge must be the employee's on the day that the device
// would show if its clock were right.
func (s storedPunch) key(shown time.Time) *commonsv1.MemberKey {
	return &commonsv1.MemberKey{
		BadgeNumber: s.BadgeNumber, PersonNumber: s.PersonNumber, Day: s.correct().In(shown.Location()).Format(time.DateOnly),
	}
}

// refuseOther returns the error for a recording that differs from the stored one with its sequence
// number.
func (s storedPunch) refuseOther(r recording) error {
	if s.recording == r {
		return nil
	}
	return fault.Invalid(CodeSequence, fmt.Sprintf("The device has sent another punch with the sequence number %d. Give each punch its own number.", s.Sequence))
}

const (
	readPunches = `
SELECT sequence, recorded_at, clock_offset, badge_number, person_number, direction, employee_id, punch_id FROM device_punch
WHERE tenant_id = $1 AND device_id = $2 AND sequence = ANY($3)`

	insertPunches = `
INSERT INTO device_punch (tenant_id, device_id, sequence, recorded_at, clock_offset, badge_number, person_number, direction, employee_id, punch_id)
SELECT $1, $2, q.* FROM unnest($3::bigint[], $4::timestamptz[], $5::bigint[], $6::text[], $7::text[], $8::smallint[], $9::bigint[], $10::bigint[])
    AS q (sequence, recorded_at, clock_offset, badge_number, person_number, direction, employee_id, punch_id)
ORDER BY q.sequence
ON CONFLICT (tenant_id, device_id, sequence) DO NOTHING`
)

// readStored returns the punches of a device with the sequence numbers.
func readStored(ctx context.Context, db pg.Querier, deviceID int64, sequences []int64) (map[int64]storedPunch, error) {
	out := map[int64]storedPunch{}
	var s storedPunch
	var at time.Time
	err := pg.ForEach(ctx, db, []any{&s.Sequence, &at, &s.ClockOffset, &s.BadgeNumber, &s.PersonNumber, &s.Direction, &s.EmployeeID, &s.PunchID}, func() error {
		s.At = at.UnixMicro()
		out[s.Sequence] = s
		return nil
	}, readPunches, tenant.Of(ctx), deviceID, sequences)
	if err != nil {
		return nil, fmt.Errorf("read punches of a device: %w", err)
	}
	return out, nil
}

// insertStored stores punches of a device, and returns false if another request has stored one of
// them.
func insertStored(ctx context.Context, tx pgx.Tx, deviceID int64, list []storedPunch) (bool, error) {
	n := len(list)
	sequences, at, offsets, badges := make([]int64, n), make([]time.Time, n), make([]int64, n), make([]string, n)
	numbers, directions, employees, punches := make([]string, n), make([]int16, n), make([]int64, n), make([]int64, n)
	for i, s := range list {
		sequences[i], at[i], offsets[i], badges[i] = s.Sequence, time.UnixMicro(s.At), s.ClockOffset, s.BadgeNumber
		numbers[i], directions[i], employees[i], punches[i] = s.PersonNumber, s.Direction, s.EmployeeID, s.PunchID
	}
	done, err := tx.Exec(ctx, insertPunches, tenant.Of(ctx), deviceID, sequences, at, offsets, badges, numbers, directions, employees, punches)
	if err != nil {
		return false, fmt.Errorf("store punches of a device: %w", err)
	}
	return done.RowsAffected() == int64(n), nil
}
