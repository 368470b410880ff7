package model

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// changePatterns makes a change of the patterns of an assignment's owner. For a term, it previews the
// change now and then, and applies the preview. preview is the name of the change in previews.
func (w *fixture) changePatterns(a *assignment, path, preview string, body scenario.Object, response any) {
	w.t.Helper()
	path = a.words().path + path
	if a.of != nil || !w.chance(50) {
		w.must(http.MethodPost, path, body, response)
		return
	}
	var made struct{ ID int64 }
	w.must(http.MethodPost, a.words().path+"/preview", scenario.Object{
		preview: body, "window": scenario.Object{"startDate": day(0).date(), "endDate": (window - 1).date()},
	}, &made)
	shown, err := w.readPreview(made.ID)
	if err == nil {
		var header http.Header
		if header, err = w.call(http.MethodPost, fmt.Sprintf("%s?previewId=%d", path, made.ID), body, response); err == nil {
			w.follow(header)
			w.counts["previews"]++
			if !w.moved {
				w.previewed = shown
			}
			return
		}
	}
	// Something else that reached the schedules in the meantime makes a preview stale.
	require.Equal(w.t, http.StatusConflict, status(err), "%v", err)
	w.must(http.MethodPost, path, body, response)
}

// readPreview returns the shifts of the changed employees after a previewed change.
func (w *fixture) readPreview(id int64) (map[int64][]string, error) {
	var response struct {
		Employees []struct {
			Employee struct{ ID int64 }
			After    struct {
				Days []struct {
					Shifts []struct{ StartDateTime, EndDateTime, Label string }
				}
			}
		}
	}
	_, err := w.call(http.MethodPost, "/v1/scheduling/previews/multi_read", scenario.Object{
		"where": scenario.Object{"id": id}, "select": []string{"DAYS"}, "count": 1000,
	}, &response)
	shown := map[int64][]string{}
	for _, e := range response.Employees {
		list := []string{}
		for _, d := range e.After.Days {
			for _, s := range d.Shifts {
				on := parseDay(s.StartDateTime)
				list = append(list, previewedShift(on, parseMinutes(on, s.StartDateTime), parseMinutes(on, s.EndDateTime), s.Label))
			}
		}
		slices.Sort(list)
		shown[e.Employee.ID] = list
	}
	return shown, err
}

func previewedShift(on day, start, end int, label string) string {
	return fmt.Sprintf("%d %d-%d %s", on, start, end, label)
}

// checkPreview compares the preview of the last change with the present schedule.
func (w *fixture) checkPreview(got []shown) {
	w.t.Helper()
	for i, e := range w.employees {
		want, changed := w.previewed[e.id]
		if !changed {
			continue
		}
		list := []string{}
		for _, s := range got {
			if s.employee == i && !s.payCode {
				list = append(list, previewedShift(s.day, s.start, s.end, s.label))
			}
		}
		slices.Sort(list)
		require.Equal(w.t, want, list, "the preview has shown other shifts of employee %d\nafter\n%v", i, lines(w.log[max(0, len(w.log)-25):]))
	}
	w.previewed, w.moved = nil, false
}
