package calculation

import (
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
)

// Differences between the present entries of a signed-off day and those that were signed off. Their effect on pay is a historical correction.
const (
	changeAdded   = "ADDED"
	changeUpdated = "UPDATED"
	changeRemoved = "REMOVED"
)

// nightsBefore is the number of days before the first day whose shifts can have punches on it.
const nightsBefore = 2

// readLate reads the present punches of signed-off days.
const readLate = `
SELECT e.id, p.id, p.at, p.time_zone, p.direction, p.is_transfer, p.job, p.work_rule_id, p.work_rule, p.no_deduction,
       p.body, p.created_at, p.updated_at
FROM unnest($2::bigint[]) AS e (id)
CROSS JOIN LATERAL (SELECT max(open_from) AS open_from FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = e.id) AS h
CROSS JOIN LATERAL (
    SELECT * FROM punch WHERE tenant_id = $1 AND employee_id = e.id AND at >= $3 AND at < $4 AND at < h.open_from OFFSET 0
) AS p ORDER BY e.id, p.at`

// showLate marks the entries of signed-off days that were added, changed or deleted after the
// sign-off.
func (c *Timecard) showLate() {
	if c.Through == nil || c.historical {
		return
	}
	c.showLatePunches()
	c.showRescheduled()
	present := map[int64]*timekeepingv1.TimecardPayCodeEdit{}
	for _, e := range c.edits {
		if !c.shows(e.Day) {
			present[e.ID] = e.ToProto(c.setup)
		}
	}
	for _, d := range c.signed {
		for i, e := range d.GetPayCodeEdits() {
			now, ok := present[e.GetId()]
			switch delete(present, e.GetId()); {
			case !ok:
				e.SignOffChange = changeRemoved
			case !sameEdit(e, now):
				now.SignOffChange = changeUpdated
				d.PayCodeEdits[i] = now
			}
		}
	}
	for _, e := range c.edits {
		if now := present[e.ID]; now != nil {
			now.SignOffChange = changeAdded
			d := c.signedDay(e.Day)
			d.PayCodeEdits = append(d.PayCodeEdits, now)
		}
	}
}

func (c *Timecard) showLatePunches() {
	present := map[int64]*punch.Punch{}
	for i := range c.late {
		present[c.late[i].ID] = &c.late[i]
	}
	for _, d := range c.signed {
		for i, p := range d.GetPunches() {
			now, ok := present[p.GetId()]
			switch delete(present, p.GetId()); {
			case !ok:
				p.SignOffChange = changeRemoved
			case now.ToProto(nil).GetUpdatedOnDtm() != p.GetUpdatedOnDtm():
				d.Punches[i] = now.ToProto(nil)
				d.Punches[i].SignOffChange = changeUpdated
			}
		}
	}
	for i := range c.late {
		p := &c.late[i]
		// The end of the last night belongs to the last day.
		if day := min(p.Local(p.At).Date, *c.Through); present[p.ID] != nil && c.Days.Contains(day) {
			shown := p.ToProto(nil)
			shown.SignOffChange = changeAdded
			d := c.signedDay(day)
			d.Punches = append(d.Punches, shown)
			slices.SortStableFunc(d.Punches, func(a, b *timekeepingv1.Punch) int { return strings.Compare(a.GetPunchDtm(), b.GetPunchDtm()) })
		}
	}
}

// signedDay returns a signed-off day. It creates the day if it was signed off empty.
func (c *Timecard) signedDay(day civil.Date) *timekeepingv1.TimecardDay {
	if c.signed == nil {
		c.signed = map[civil.Date]*timekeepingv1.TimecardDay{}
	}
	if c.signed[day] == nil {
		c.signed[day] = &timekeepingv1.TimecardDay{Date: day.String()}
	}
	return c.signed[day]
}

// sameEdit reports whether two edits have the same value, pay code and job.
func sameEdit(a, b *timekeepingv1.TimecardPayCodeEdit) bool {
	return a.GetApplyDate() == b.GetApplyDate() && a.GetPaycode().GetId() == b.GetPaycode().GetId() &&
		a.GetOrgJob().GetQualifier() == b.GetOrgJob().GetQualifier() &&
		a.GetDurationInHours().GetNumberValue() == b.GetDurationInHours().GetNumberValue() &&
		a.GetDurationInDays().GetNumberValue() == b.GetDurationInDays().GetNumberValue() &&
		a.GetMoneyAmount().GetNumberValue() == b.GetMoneyAmount().GetNumberValue()
}
