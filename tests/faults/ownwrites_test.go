package faults

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// writers is the number of clients that write and read at the same time.
	writers = 4
	// Clients read these days; leaveDay has leave and freeDay has time off.
	ownFrom, ownTo    = "2026-03-02", "2026-03-06"
	leaveDay, freeDay = "2026-03-03", "2026-03-05"
	granted           = 24
)

// Clients put an employee on a term, enter leave or grant time off. They read it immediately in the
// schedule, the timecard and the accrual balance, while others write and read. They neither wait
// nor repeat requests. ROTALOOM_OWN_WRITES sets the number of employees.
func TestClientsReadTheirOwnWrites(t *testing.T) {
	rounds := 40
	if text := os.Getenv("ROTALOOM_OWN_WRITES"); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err, "ROTALOOM_OWN_WRITES is a number of employees")
	}
	w := newOwnWrites(t, rounds)
	crowd, _ := w.working(50, third)
	traffic := w.traffic(crowd)
	defer traffic.stop()
	var group errgroup.Group
	for writer := range writers {
		group.Go(func() error {
			for i := writer; i < rounds; i += writers {
				if err := w.round(w.persons[i]); err != nil {
					return fmt.Errorf("employee %d: %w", w.persons[i], err)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	traffic.stop()
	w.report()
	w.verify()
}

// ownWrites holds the employees whose writes are read immediately.
type ownWrites struct {
	*fixture
	persons         []int64
	before, after   *scenario.Crew
	payCode         string
	subtype         int64
	mu              sync.Mutex
	reads           map[string]int
	stale           map[string]int
	firstDifference map[string]string
}

// newOwnWrites hires employees with an accrual profile, and puts them on a term.
func newOwnWrites(t *testing.T, size int) *ownWrites {
	t.Helper()
	w := &ownWrites{
		fixture: newFixture(t, "ROTALOOM_THROTTLE=false"), payCode: scenario.Unique("vacation"),
		reads: map[string]int{}, stale: map[string]int{}, firstDifference: map[string]string{},
	}
	create := func(path string, body scenario.Object, reply any) {
		_, err := w.api.Call(w.ctx, http.MethodPost, path, body, reply)
		require.NoError(t, err)
	}
	create("/v1/timekeeping/setup/pay_codes", scenario.Object{"name": w.payCode}, nil)
	create("/v1/timekeeping/setup/accrual_codes", scenario.Object{
		"name": w.payCode, "unit": "DAY", "payCodes": []scenario.Object{{"qualifier": w.payCode}},
	}, nil)
	create("/v1/timekeeping/setup/accrual_profiles", scenario.Object{
		"name": w.payCode, "accrualPolicies": []scenario.Object{{"accrualCode": scenario.Object{"qualifier": w.payCode}, "grantAmount": granted}},
	}, nil)
	var subtype struct{ TimeOffRequest struct{ ID int64 } }
	create("/v1/scheduling/setup/request_subtypes", scenario.Object{
		"timeOffRequest": scenario.Object{"name": w.payCode, "defaultPayCode": scenario.Object{"qualifier": w.payCode}},
	}, &subtype)
	w.subtype = subtype.TimeOffRequest.ID
	w.hire(size)
	w.before, w.after = w.crew(1), w.crew(1)
	for crew, label := range map[*scenario.Crew]string{w.before: "B", w.after: "A"} {
		_, err := crew.Assign(w.ctx, w.api, scenario.Pattern("X", map[string]scenario.Object{"X": scenario.Shift(label, "08:00", "16:00", false)}), monday, "", 0)
		require.NoError(t, err)
	}
	for part := range slices.Chunk(w.persons, 100) {
		require.NoError(t, scenario.PutOnTerm(w.ctx, w.api, w.before.TermID, part, hired, forever))
	}
	return w
}

// hire creates the employees.
func (w *ownWrites) hire(size int) {
	w.t.Helper()
	for first := 0; first < size; first += 100 {
		var persons []scenario.Object
		for i := first; i < min(first+100, size); i++ {
			p := person(fmt.Sprint(w.payCode, "-", i), "Own", "Write")
			information := p["personInformation"].(scenario.Object)["person"].(scenario.Object)
			information["accrualProfileName"], information["accrualProfileEffectiveDate"] = w.payCode, hired
			persons = append(persons, p)
		}
		var created []struct {
			PersonIdentity struct{ PersonKey int64 }
		}
		_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/commons/persons/multi_create", persons, &created)
		require.NoError(w.t, err)
		for _, c := range created {
			w.persons = append(w.persons, c.PersonIdentity.PersonKey)
		}
	}
	require.Len(w.t, w.persons, size)
}

// known is the state of an employee that a client expects because of its own writes.
type known struct {
	label       string
	leave, free bool
}

// round writes for one employee, and reads after each write.
func (w *ownWrites) round(person int64) error {
	now := known{label: "B"}
	if err := w.read("before all writes", person, now); err != nil {
		return err
	}
	if err := scenario.PutOnTerm(w.ctx, w.api, w.after.TermID, []int64{person}, hired, forever); err != nil {
		return err
	}
	now.label = "A"
	if err := w.read("after the move to another term", person, now); err != nil {
		return err
	}
	edit, err := w.enter(person)
	if err != nil {
		return err
	}
	now.leave = true
	if err := w.read("after leave was entered", person, now); err != nil {
		return err
	}
	var request struct{ ID int64 }
	if _, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/timeoff", scenario.Object{
		"employee": scenario.Object{"id": person}, "requestSubType": scenario.Object{"id": w.subtype},
		"periods": []scenario.Object{{"symbolicAmount": scenario.Object{"qualifier": "FULL_DAY"}, "startDate": freeDay}},
	}, &request); err != nil {
		return err
	}
	now.free = true
	if err := w.read("after time off was granted", person, now); err != nil {
		return err
	}
	if _, err := w.api.Call(w.ctx, http.MethodDelete, fmt.Sprint(leaveEdits, "/", edit), nil, nil); err != nil {
		return err
	}
	now.leave = false
	if err := w.read("after leave was deleted", person, now); err != nil {
		return err
	}
	if _, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/timeoff/apply_update", scenario.Object{"changeState": scenario.Object{
		"do": scenario.Object{"toStatus": scenario.Object{"symbolicId": "CANCELLED"}}, "where": scenario.Object{"timeOffRequestId": strconv.FormatInt(request.ID, 10)},
	}}, nil); err != nil {
		return err
	}
	now.free = false
	return w.read("after time off was cancelled", person, now)
}

// enter gives an employee a day of paid leave, and returns the id of the edit.
func (w *ownWrites) enter(person int64) (int64, error) {
	var opened struct{ ID int64 }
	if _, err := w.api.Call(w.ctx, http.MethodPost, leaveCases, medicalLeave(person), &opened); err != nil {
		return 0, err
	}
	segment := scenario.Object{"amountInSeconds": 8 * 3600}
	var made []struct{ ID int64 }
	if _, err := w.api.Call(w.ctx, http.MethodPost, leaveEdits, scenario.Object{
		"leaveCase": scenario.Object{"id": opened.ID},
		"leaveEdits": []scenario.Object{{
			"date": leaveDay, "paidSegment": segment, "trackingSegment": segment,
			"overrideSegments": []scenario.Object{{"amountInSeconds": 8 * 3600, "payCode": scenario.Object{"qualifier": w.payCode}}},
		}},
	}, &made); err != nil {
		return 0, err
	}
	if len(made) != 1 {
		return 0, fmt.Errorf("%d leave edits were made instead of 1", len(made))
	}
	return made[0].ID, nil
}

// read reads the schedule, the timecard and the balance of an employee at once, and compares each
// with the state that the client expects.
func (w *ownWrites) read(when string, person int64, now known) error {
	var group errgroup.Group
	for what, read := range map[string]func(int64, known) (got, want []string, err error){
		"schedule": w.schedule, "timecard": w.timecard, "balance": w.balance,
	} {
		group.Go(func() error {
			got, want, err := read(person, now)
			if err != nil {
				return fmt.Errorf("%s %s: %w", what, when, err)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			step := what + " " + when
			w.reads[step]++
			if !slices.Equal(want, got) {
				if w.stale[step]++; w.stale[step] == 1 {
					w.firstDifference[step] = fmt.Sprintf("employee %d has\n  %s\ninstead of\n  %s", person, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// schedule returns the entries that the schedule of an employee shows, and the expected ones.
func (w *ownWrites) schedule(person int64, now known) (got, want []string, err error) {
	request := scenario.ReadRequest([]int64{person}, ownFrom, ownTo)
	request["select"] = []string{"SHIFTS", "LEAVEEDITS", "PAYCODEEDITS"}
	var shown struct {
		Shifts       []scenario.ShiftOf
		LeaveEdits   []struct{ StartDate string }
		PayCodeEdits []struct{ StartDate string }
	}
	if _, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", request, &shown); err != nil {
		return nil, nil, err
	}
	for _, s := range shown.Shifts {
		got = append(got, s.StartDateTime[:10]+" shift "+s.Label)
	}
	for _, e := range shown.LeaveEdits {
		got = append(got, e.StartDate+" leave")
	}
	for _, e := range shown.PayCodeEdits {
		got = append(got, e.StartDate+" time off")
	}
	for d := day(ownFrom); !d.After(day(ownTo)); d = d.AddDate(0, 0, 1) {
		switch date := d.Format("2006-01-02"); {
		case now.leave && date == leaveDay:
			want = append(want, date+" leave")
		case now.free && date == freeDay:
			want = append(want, date+" time off")
		default:
			want = append(want, date+" shift "+now.label)
		}
	}
	slices.Sort(got)
	return got, want, nil
}

// timecard returns the entries that the timecard of an employee shows, and the expected ones.
func (w *ownWrites) timecard(person int64, now known) (got, want []string, err error) {
	var timecards []struct {
		ScheduleShifts []struct{ StartDateTime string }
		Totals         []struct {
			ApplyDate   string
			Paycode     struct{ Qualifier string }
			HoursAmount float64
		}
	}
	if _, err := w.api.Call(w.ctx, http.MethodPost, "/v1/timekeeping/timecard/multi_read", scenario.Object{
		"select": []string{"TOTALS", "SCHEDULE_SHIFT"},
		"where":  scenario.Object{"employees": scenario.Object{"ids": []int64{person}}, "dateRange": scenario.Object{"startDate": ownFrom, "endDate": ownTo}},
	}, &timecards); err != nil {
		return nil, nil, err
	}
	for _, timecard := range timecards {
		for _, s := range timecard.ScheduleShifts {
			got = append(got, s.StartDateTime[:10]+" shift")
		}
		for _, total := range timecard.Totals {
			got = append(got, fmt.Sprint(total.ApplyDate, " ", total.Paycode.Qualifier, " ", total.HoursAmount))
		}
	}
	for d := day(ownFrom); !d.After(day(ownTo)); d = d.AddDate(0, 0, 1) {
		date := d.Format("2006-01-02")
		if now.leave && date == leaveDay || now.free && date == freeDay {
			want = append(want, fmt.Sprint(date, " ", w.payCode, " 8"))
		} else {
			want = append(want, date+" shift")
		}
	}
	slices.Sort(got)
	return got, want, nil
}

// balance returns an employee's available balance, and the expected one.
func (w *ownWrites) balance(person int64, now known) (got, want []string, err error) {
	var found []struct {
		Balances []struct {
			DayBalances []struct{ AvailableBalanceInDays float64 }
		}
	}
	path := fmt.Sprintf("/v1/scheduling/timeoff/accruals?employee_id=%d&subtype_id=%d&date=%s", person, w.subtype, ownTo)
	if _, err := w.api.Call(w.ctx, http.MethodGet, path, nil, &found); err != nil {
		return nil, nil, err
	}
	for _, f := range found {
		for _, b := range f.Balances {
			for _, d := range b.DayBalances {
				got = append(got, fmt.Sprint(d.AvailableBalanceInDays))
			}
		}
	}
	left := granted
	for _, taken := range []bool{now.leave, now.free} {
		if taken {
			left--
		}
	}
	return got, []string{fmt.Sprint(left)}, nil
}

// report fails for each kind of read that returned stale data.
func (w *ownWrites) report() {
	w.t.Helper()
	for step, reads := range w.reads {
		if stale := w.stale[step]; stale > 0 {
			w.t.Errorf("%d of %d reads of the %s are stale: %s", stale, reads, step, w.firstDifference[step])
		} else {
			w.t.Logf("%d reads of the %s: none is stale", reads, step)
		}
	}
}
