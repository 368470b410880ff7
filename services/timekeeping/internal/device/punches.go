package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
)

// importAttempts is the maximum number of attempts if the device sends the same punches several
// times at once.
const importAttempts = 4

// errSentTwice is the error if another request has stored a punch of this request in the meantime.
var errSentTwice = fault.Conflict(fault.CodeConflict, "The device sends the same punches several times at once. Send them again.")

// ImportDevicePunches stores punches of the calling device, independently of each other. A punch
// that the device sent before is a success that changes nothing.
func (c *Client) ImportDevicePunches(ctx context.Context, req *udmv1.ImportDevicePunchesRequest) (*udmv1.DevicePunchList, error) {
	now := clock.OfTenant(ctx, c.Clock.Now())
	d, err := c.caller(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	shown, err := parseInstant("clock", req.GetBody().GetClock())
	if err != nil {
		return nil, err
	}
	if len(req.GetBody().GetPunches()) == 0 {
		return nil, invalid("punches is missing")
	}
	offset := clockOffset(shown, now)
	if _, err := c.report(ctx, d, now, nil, offset); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		b := &batch{client: c, device: d, now: now, offset: *offset, sent: req.GetBody().GetPunches()}
		outcome, err := b.run(ctx)
		if errors.Is(err, errSentTwice) && attempt < importAttempts {
			continue
		}
		if err != nil {
			return nil, err
		}
		stored, failure, err := rpc.BulkResult(ctx, outcome)
		return &udmv1.DevicePunchList{Punches: stored, Failure: failure}, err
	}
}

// batch is one attempt to store the punches of a request.
type batch struct {
	client *Client
	device *udmv1.Device
	now    time.Time
	offset int64
	sent   []*udmv1.DevicePunch
	// items has an element for each sent punch.
	items []item
	// employees are the employees of the punches, by id.
	employees map[int64]person.Person
}

// item is a punch of a batch.
type item struct {
	storedPunch
	shown time.Time
	err   error
	// known means that the device sent the punch before. repeats is the index of the same punch
	// earlier in the batch, or -1.
	known   bool
	repeats int
	entry   *punch.Entry
}

func (b *batch) run(ctx context.Context) (*bulk.Outcome[*udmv1.DevicePunch, *udmv1.DevicePunch], error) {
	if err := b.compare(ctx); err != nil {
		return nil, err
	}
	if err := b.findEmployees(ctx); err != nil {
		return nil, err
	}
	b.parse()
	if err := b.store(ctx); err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*udmv1.DevicePunch, *udmv1.DevicePunch]{}
	for i, sent := range b.sent {
		it := &b.items[i]
		if it.repeats >= 0 && it.err == nil {
			it = &b.items[it.repeats]
		}
		if it.err != nil {
			out.Fail(sent, fault.FromError(it.err))
			continue
		}
		out.Succeed(sent, b.show(sent, it.storedPunch))
	}
	return out, nil
}

// compare validates the punches, and compares them with the punches that the device sent before.
func (b *batch) compare(ctx context.Context) error {
	b.items = make([]item, len(b.sent))
	var sequences []int64
	for i, p := range b.sent {
		it := &b.items[i]
		it.repeats = -1
		it.Sequence, it.ClockOffset = p.GetSequence(), b.offset
		if it.recording, it.shown, it.err = parseRecording(fmt.Sprintf("punches[%d]", i), p); it.err == nil {
			sequences = append(sequences, it.Sequence)
		}
	}
	stored, err := readStored(ctx, b.client.Pool, b.device.GetId(), sequences)
	if err != nil {
		return err
	}
	first := map[int64]int{}
	for i := range b.items {
		it := &b.items[i]
		if it.err != nil {
			continue
		}
		if s, ok := stored[it.Sequence]; ok {
			it.err, it.known = s.refuseOther(it.recording), true
			it.storedPunch = s
			continue
		}
		if at, ok := first[it.Sequence]; ok {
			it.err, it.repeats = b.items[at].refuseOther(it.recording), at
			continue
		}
		first[it.Sequence] = i
	}
	return nil
}

// findEmployees finds the employees of the punches: the employees of new punches must be members of
// the device's group.
func (b *batch) findEmployees(ctx context.Context) error {
	req := &commonsv1.FindDeviceGroupMembersRequest{DeviceGroupId: b.device.GetDeviceGroup().GetId()}
	var asked []*item
	var ids []int64
	for i := range b.items {
		it := &b.items[i]
		switch {
		case it.err != nil || it.repeats >= 0:
		case it.known:
			ids = append(ids, it.EmployeeID)
		default:
			req.Keys, asked = append(req.Keys, it.key(it.shown)), append(asked, it)
		}
	}
	if len(asked) > 0 {
		found, err := b.client.Members.FindDeviceGroupMembers(ctx, req)
		if err != nil {
			return fmt.Errorf("find members of a device group: %w", err)
		}
		for i, it := range asked {
			if it.EmployeeID = found.GetPersonIds()[i]; it.EmployeeID == 0 {
				it.err = noMember(req.GetKeys()[i])
				continue
			}
			ids = append(ids, it.EmployeeID)
		}
	}
	var err error
	b.employees, err = b.client.Persons.FindPermitted(ctx, ids)
	return err
}

func noMember(key *commonsv1.MemberKey) error {
	who := fmt.Sprintf("has the person number %.100q", key.GetPersonNumber())
	if key.GetBadgeNumber() != "" {
		who = fmt.Sprintf("carries the badge %.100q on %s", key.GetBadgeNumber(), key.GetDay())
	}
	return fault.Invalid(CodeNoMember, "No employee in the group of the device "+who+".")
}

// parse converts the new punches to punches of timecards, with their corrected times.
func (b *batch) parse() {
	for i := range b.items {
		it := &b.items[i]
		if it.err != nil || it.known || it.repeats >= 0 {
			continue
		}
		who, ok := b.employees[it.EmployeeID]
		if !ok {
			it.err = noMember(it.key(it.shown))
			continue
		}
		it.entry, it.err = punch.Parse(&b.client.zones, &timekeepingv1.Punch{
			Instant: it.correct().UTC().Format(time.RFC3339), TypeOverride: b.sent[i].GetTypeOverride(),
		}, who)
		if it.err == nil {
			it.err = it.entry.CheckTime(b.now)
		}
	}
}

// store stores the new punches in the timecards, and their sequence numbers in the same
// transaction.
func (b *batch) store(ctx context.Context) error {
	var fresh []*item
	var entries []*punch.Entry
	for i := range b.items {
		if it := &b.items[i]; it.err == nil && it.entry != nil {
			fresh, entries = append(fresh, it), append(entries, it.entry)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return b.client.Timecards.AddPunchesThen(ctx, entries, func(ctx context.Context, tx pgx.Tx) error {
		rows := make([]storedPunch, len(fresh))
		for i, it := range fresh {
			it.PunchID = it.entry.ID
			rows[i] = it.storedPunch
		}
		done, err := insertStored(ctx, tx, b.device.GetId(), rows)
		if err == nil && !done {
			err = errSentTwice
		}
		return err
	})
}

// show returns a stored punch in the form of responses.
func (b *batch) show(sent *udmv1.DevicePunch, s storedPunch) *udmv1.DevicePunch {
	out := proto.CloneOf(sent)
	out.CorrectedTime = s.correct().UTC().Format(time.RFC3339)
	out.Employee, out.PunchId = &commonv1.Ref{Id: &s.EmployeeID}, &s.PunchID
	if who, ok := b.employees[s.EmployeeID]; ok {
		out.Employee.Qualifier = &who.Number
	}
	return out
}
