package dataprovider

import (
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

type (
	entry = dataelement.Entry[plan]
	at    = dataelement.At
	value = dataelement.Value
)

var scheduling = []string{"SCHEDULING"}

func elements() []entry {
	return slices.Concat(hourElements(), shiftElements(), jobElements(), editElements())
}

// sum returns an element that adds up hours of the shifts. It is 0 without shifts.
func sum(key, label, doc string, seconds func(*reading.Summary) int64) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: dataelement.Number, Categories: scheduling, Series: true,
		Value: func(p *plan, at at) value {
			var total int64
			for s := range p.shifts(at.Days) {
				total += seconds(s)
			}
			return hours(total)
		},
	}
}

// count returns an element that counts matching shifts.
func count(key, label, doc string, fits func(*reading.Summary) bool) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: dataelement.Long, Categories: scheduling, Series: true,
		Value: func(p *plan, at at) value {
			var n int64
			for s := range p.shifts(at.Days) {
				if fits(s) {
					n++
				}
			}
			return dataelement.Whole(n)
		},
	}
}

// selectShift returns an element of the best shift by a comparison. It is empty without shifts.
func selectShift(key, label, doc string, kind dataelement.Type, better func(a, b *reading.Summary) bool, show func(*reading.Summary) value) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: kind, Categories: scheduling, Series: true,
		Value: func(p *plan, at at) value {
			var best *reading.Summary
			for s := range p.shifts(at.Days) {
				if best == nil || better(s, best) {
					best = s
				}
			}
			if best == nil {
				return value{}
			}
			return show(best)
		},
	}
}

func hours(seconds int64) value { return dataelement.Decimal(float64(seconds) / 3600) }

func first(a, b *reading.Summary) bool   { return a.Start < b.Start }
func last(a, b *reading.Summary) bool    { return a.End > b.End }
func longer(a, b *reading.Summary) bool  { return a.Seconds > b.Seconds }
func shorter(a, b *reading.Summary) bool { return a.Seconds < b.Seconds }

func weekend(s *reading.Summary) bool {
	day := s.Day.Weekday()
	return day == time.Saturday || day == time.Sunday
}

func overnight(s *reading.Summary) bool {
	return s.End > int64(s.Day+1)*civil.SecondsPerDay
}

func hourElements() []entry {
	worked := func(s *reading.Summary) int64 { return s.Seconds }
	only := func(fits func(*reading.Summary) bool) func(*reading.Summary) int64 {
		return func(s *reading.Summary) int64 {
			if fits(s) {
				return s.Seconds
			}
			return 0
		}
	}
	return []entry{
		sum("SCH_SCHEDULED_HOURS", "Scheduled hours", "The hours of the shifts, without breaks and without leave.", worked),
		sum("SCH_BREAK_HOURS", "Break hours", "The hours of the breaks.", func(s *reading.Summary) int64 { return s.Breaks }),
		sum("SCH_PRESENCE_HOURS", "Hours of presence", "The hours of the shifts with their breaks.",
			func(s *reading.Summary) int64 { return s.Seconds + s.Breaks }),
		sum("SCH_WEEKEND_HOURS", "Weekend hours", "The hours of the shifts of Saturdays and Sundays.", only(weekend)),
		sum("SCH_GENERATED_HOURS", "Generated hours", "The hours of the shifts that come from patterns.",
			only(func(s *reading.Summary) bool { return s.Generated })),
		sum("SCH_ENTERED_HOURS", "Entered hours", "The hours of the shifts that people entered or changed.",
			only(func(s *reading.Summary) bool { return !s.Generated })),
		{
			Key: "SCH_AVERAGE_SHIFT_HOURS", Label: "Average shift hours", Doc: "The hours of a shift on average.", Type: dataelement.Number,
			Categories: scheduling, Series: true, Value: func(p *plan, at at) value {
				var total, n int64
				for s := range p.shifts(at.Days) {
					total, n = total+s.Seconds, n+1
				}
				if n == 0 {
					return value{}
				}
				return dataelement.Decimal(float64(total) / 3600 / float64(n))
			},
		},
		selectShift("SCH_LONGEST_SHIFT_HOURS", "Longest shift", "The hours of the longest shift.", dataelement.Number, longer,
			func(s *reading.Summary) value { return hours(s.Seconds) }),
		selectShift("SCH_SHORTEST_SHIFT_HOURS", "Shortest shift", "The hours of the shortest shift.", dataelement.Number, shorter,
			func(s *reading.Summary) value { return hours(s.Seconds) }),
	}
}

func shiftElements() []entry {
	return []entry{
		count("SCH_SHIFT_COUNT", "Shifts", "How many shifts there are.", func(*reading.Summary) bool { return true }),
		count("SCH_WEEKEND_SHIFT_COUNT", "Weekend shifts", "How many shifts are on Saturdays and Sundays.", weekend),
		count("SCH_OVERNIGHT_SHIFT_COUNT", "Overnight shifts", "How many shifts end after their day.", overnight),
		count("SCH_GENERATED_SHIFT_COUNT", "Generated shifts", "How many shifts come from patterns.", func(s *reading.Summary) bool { return s.Generated }),
		count("SCH_ENTERED_SHIFT_COUNT", "Entered shifts", "How many shifts people entered or changed.", func(s *reading.Summary) bool { return !s.Generated }),
		count("SCH_LOCKED_SHIFT_COUNT", "Locked shifts", "How many shifts are on locked days.", func(s *reading.Summary) bool { return s.Locked }),
		{
			Key: "SCH_IS_SCHEDULED", Label: "Scheduled", Doc: "Whether there is a shift.", Type: dataelement.Boolean, Categories: scheduling, Series: true,
			Value: func(p *plan, at at) value {
				for range p.shifts(at.Days) {
					return dataelement.Bool(true)
				}
				return dataelement.Bool(false)
			},
		},
		{
			Key: "SCH_SCHEDULED_DAYS", Label: "Scheduled days", Doc: "How many days have a shift.", Type: dataelement.Long, Categories: scheduling, Series: true,
			Value: func(p *plan, at at) value {
				days := map[civil.Date]bool{}
				for s := range p.shifts(at.Days) {
					days[s.Day] = true
				}
				return dataelement.Whole(int64(len(days)))
			},
		},
		{
			Key: "SCH_LOCKED_DAYS", Label: "Locked days", Doc: "How many days are locked.", Type: dataelement.Long, Categories: scheduling, Series: true,
			Value: func(p *plan, at at) value {
				var n int
				for _, r := range civil.Normalise(slices.Clone(p.locked)) {
					n += r.Intersect(at.Days).Days()
				}
				return dataelement.Whole(int64(n))
			},
		},
		selectShift("SCH_SHIFT_START_DATE", "First day", "The day of the first shift.", dataelement.Date, first,
			func(s *reading.Summary) value { return dataelement.Day(s.Day) }),
		selectShift("SCH_SHIFT_END_DATE", "Last day", "The day of the last shift.", dataelement.Date, last,
			func(s *reading.Summary) value { return dataelement.Day(s.Day) }),
		selectShift("SCH_FIRST_START", "First start", "When the first shift starts.", dataelement.DateTime, first,
			func(s *reading.Summary) value { return dataelement.Moment(s.Start) }),
		selectShift("SCH_LAST_END", "Last end", "When the last shift ends.", dataelement.DateTime, last,
			func(s *reading.Summary) value { return dataelement.Moment(s.End) }),
		selectShift("SCH_FIRST_START_TIME", "First start time", "At what time the first shift starts.", dataelement.Time, first,
			func(s *reading.Summary) value { return dataelement.Clock(s.Start % civil.SecondsPerDay) }),
		selectShift("SCH_LAST_END_TIME", "Last end time", "At what time the last shift ends.", dataelement.Time, last,
			func(s *reading.Summary) value { return dataelement.Clock(s.End % civil.SecondsPerDay) }),
		selectShift("SCH_SHIFT_LABEL", "Shift label", "The label of the first shift.", dataelement.String, first,
			func(s *reading.Summary) value { return dataelement.Text(s.Label) }),
	}
}

func jobElements() []entry {
	job := []dataelement.Property{{Key: "JOB", Doc: "The path of a job, or of a location above it."}}
	below := func(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }
	seconds := func(s *reading.Summary, top string) (total int64) {
		for _, j := range s.Jobs {
			if below(j.Path, top) {
				total += j.Seconds
			}
		}
		return total
	}
	return []entry{
		{
			Key: "SCH_JOB_HOURS", Label: "Hours on a job", Doc: "The scheduled hours on a job.", Type: dataelement.Number, Categories: scheduling, Series: true,
			Properties: job, Value: func(p *plan, at at) value {
				var total int64
				for s := range p.shifts(at.Days) {
					total += seconds(s, at.Properties["JOB"])
				}
				return hours(total)
			},
		},
		{
			Key: "SCH_JOB_SHIFT_COUNT", Label: "Shifts on a job", Doc: "How many shifts are on a job, in part at least.", Type: dataelement.Long,
			Categories: scheduling, Series: true, Properties: job, Value: func(p *plan, at at) value {
				var n int64
				for s := range p.shifts(at.Days) {
					if seconds(s, at.Properties["JOB"]) > 0 {
						n++
					}
				}
				return dataelement.Whole(n)
			},
		},
		{
			Key: "SCH_JOBS", Label: "Jobs", Doc: "The paths of the jobs of the shifts, with commas between.", Type: dataelement.String,
			Categories: scheduling, Series: true, Value: func(p *plan, at at) value {
				return dataelement.Text(strings.Join(jobPaths(p, at.Days), ", "))
			},
		},
		{
			Key: "SCH_JOB_COUNT", Label: "Number of jobs", Doc: "How many jobs the shifts are on.", Type: dataelement.Long,
			Categories: scheduling, Series: true, Value: func(p *plan, at at) value {
				return dataelement.Whole(int64(len(jobPaths(p, at.Days))))
			},
		},
		selectShift("CORE_ORGJOB_PATH", "Job path", "The path of the job that the first shift begins with.", dataelement.String, first,
			func(s *reading.Summary) value { return dataelement.Text(firstJob(s)) }),
		selectShift("CORE_ORGJOB", "Job", "The name of the job that the first shift begins with.", dataelement.String, first,
			func(s *reading.Summary) value {
				path := firstJob(s)
				return dataelement.Text(path[strings.LastIndexByte(path, '/')+1:])
			}),
	}
}

func firstJob(s *reading.Summary) string {
	if len(s.Jobs) == 0 {
		return ""
	}
	return s.Jobs[0].Path
}

func jobPaths(p *plan, days civil.Range) []string {
	var out []string
	for s := range p.shifts(days) {
		for _, j := range s.Jobs {
			if j.Path != "" && !slices.Contains(out, j.Path) {
				out = append(out, j.Path)
			}
		}
	}
	slices.Sort(out)
	return out
}

func editElements() []entry {
	countEdits := func(key, label, doc string, kind reading.SummaryKind) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.Long, Categories: scheduling, Series: true,
			Value: func(p *plan, at at) value {
				var n int64
				for range p.selectEntries(kind, at.Days) {
					n++
				}
				return dataelement.Whole(n)
			},
		}
	}
	sumEdits := func(key, label, doc string, kind reading.SummaryKind) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: dataelement.Number, Categories: scheduling, Series: true,
			Value: func(p *plan, at at) value {
				var total int64
				for e := range p.selectEntries(kind, at.Days) {
					total += e.Seconds
				}
				return hours(total)
			},
		}
	}
	edit := func(key, label, doc string, kind dataelement.Type, show func(*reading.Summary) value) entry {
		return entry{
			Key: key, Label: label, Doc: doc, Type: kind, Categories: scheduling, Series: true,
			Value: func(p *plan, at at) value {
				for e := range p.selectEntries(reading.PayCodeEditSummary, at.Days) {
					return show(e)
				}
				return value{}
			},
		}
	}
	return []entry{
		countEdits("SCH_PCE_COUNT", "Pay code edits", "How many pay code edits there are.", reading.PayCodeEditSummary),
		sumEdits("SCH_PCE_HOURS", "Pay code edit hours", "The hours of the pay code edits.", reading.PayCodeEditSummary),
		edit("SCH_PCE_START_DATE", "Pay code edit from", "The day of the first pay code edit.", dataelement.Date,
			func(e *reading.Summary) value { return dataelement.Day(e.Day) }),
		edit("SCH_PCE_START_TIME", "Pay code edit start", "The time at which the first pay code edit starts.", dataelement.Time,
			func(e *reading.Summary) value { return dataelement.Clock(e.Start % civil.SecondsPerDay) }),
		edit("SCH_PCE_END_DATE", "Pay code edit through", "The last day of the first pay code edit.", dataelement.Date,
			func(e *reading.Summary) value { return dataelement.Day(civil.Date((e.End - 1) / civil.SecondsPerDay)) }),
		edit("SCH_PCE_END_TIME", "Pay code edit end", "The time at which the first pay code edit ends: its start and its amount.", dataelement.Time,
			func(e *reading.Summary) value { return dataelement.Clock((e.Start + e.Seconds) % civil.SecondsPerDay) }),
		edit("SCH_PCE_IS_GENERATED", "Pay code edit from a pattern", "Whether the first pay code edit comes from a pattern.", dataelement.Boolean,
			func(e *reading.Summary) value { return dataelement.Bool(e.Generated) }),
		edit("SCH_PCE_IS_POSTED", "Pay code edit posted", "Whether the first pay code edit was posted.", dataelement.Boolean,
			func(e *reading.Summary) value { return dataelement.Bool(e.Posted) }),
		edit("SCH_PCE_TRANSFER_STRING", "Pay code edit transfer", "Where the first pay code edit is charged, as its transfer string says.", dataelement.String,
			func(e *reading.Summary) value { return dataelement.Text(e.Transfer) }),
		edit("CORE_PAYCODE", "Pay code", "The pay code of the first pay code edit.", dataelement.String,
			func(e *reading.Summary) value { return dataelement.Text(e.Label) }),
		countEdits("SCH_LEAVE_COUNT", "Leave on the schedule", "How many leave edits are on the schedule.", reading.LeaveEditSummary),
		sumEdits("SCH_LEAVE_HOURS", "Leave hours on the schedule", "The hours of the leave edits that have a duration.", reading.LeaveEditSummary),
	}
}
