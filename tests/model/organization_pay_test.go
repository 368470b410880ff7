package model

import (
	"fmt"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// baseWage is the hourly rate of all workers in jobs without a wage of their own.
const baseWage = "10"

// enterWork enters an hour of work in a job on a day of the past.
func (p *planner) enterWork() {
	p.t.Helper()
	i, d := p.random.IntN(len(p.workers)), 1+p.random.IntN(p.today()-1)
	w, l := p.workers[i], p.drawLocation(job, period{d, d + 1})
	if l < 0 || w.terminated[d] || w.worked[d] != "" {
		return
	}
	path := p.path(l, d)
	w.worked[d] = path
	request := scenario.Object{"punches": []scenario.Object{
		{"employee": scenario.Object{"id": w.id}, "punchDtm": p.date(d) + "T08:00:00", "transfer": scenario.Object{"transferString": path + ";;"}},
		{"employee": scenario.Object{"id": w.id}, "punchDtm": p.date(d) + "T09:00:00"},
	}}
	var err error
	launch.Await(p.t, waitTimeout, "timekeeping learns of a new employee", func() bool {
		_, err = p.api.Call(p.t.Context(), http.MethodPost, "/v1/timekeeping/punches/import", request, nil)
		return status(err) != http.StatusBadRequest
	})
	p.did("punches", fmt.Sprintf("worker %d works at %s (%d) on %d", i, path, l, d), "", err)
}

// findWage returns the rate of a worker in a job on a day. It is not known if several wages have names of the
// job's location.
func (o *organization) findWage(w *worker, path string, d int) (rate string, known bool) {
	rates := map[string]bool{}
	l := o.find(path, d)
	for name, rate := range w.wages[d] {
		if name == path || l >= 0 && o.find(name, d) == l {
			rates[rate] = true
		}
	}
	switch len(rates) {
	case 0:
		return baseWage, true
	case 1:
		for rate := range rates {
			return rate, true
		}
	}
	return "", false
}

// comparePay waits until the timecards have the wages of the model.
func (p *planner) comparePay() {
	p.t.Helper()
	for i, w := range p.workers {
		var differ string
		equal := func() bool {
			paid := p.readPay(w.id)
			differ = ""
			for d, path := range w.worked {
				rate, known := p.findWage(w, path, d)
				if path != "" && known && !w.terminated[d] && paid[d] != rate {
					differ += fmt.Sprintf("day %d at %s: %q instead of %q\n", d, path, paid[d], rate)
				}
			}
			return differ == ""
		}
		for deadline := time.Now().Add(20 * time.Second); !equal(); time.Sleep(betweenReads) { // Wages are cached for some seconds.
			require.True(p.t, time.Now().Before(deadline), "worker %d: %safter\n%s", i, differ, lines(p.log))
		}
	}
	p.counts["timecards"]++
}

// readPay reads the wages of the hour of each day.
func (p *planner) readPay(id int64) (paid [span]string) {
	p.t.Helper()
	var shown []struct {
		DailyActualTotalSummary []struct {
			ApplyDate   string
			WagesAmount any
		}
	}
	p.must(http.MethodPost, "/v1/timekeeping/timecard_metrics/multi_read", scenario.Object{
		"select": []string{"DAILY_ACTUAL_TOTAL_SUMMARY"}, "where": scenario.Object{"employeeSet": scenario.Object{
			"dateRange": scenario.Object{"startDate": p.date(0), "endDate": p.date(p.today())}, "employees": scenario.Object{"ids": []int64{id}},
		}},
	}, &shown)
	for _, employee := range shown {
		for _, day := range employee.DailyActualTotalSummary {
			for d := range span {
				if p.date(d) == day.ApplyDate {
					paid[d] = fmt.Sprint(day.WagesAmount)
				}
			}
		}
	}
	return paid
}
