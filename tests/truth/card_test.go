package truth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// compareCard returns what differs between a timecard and the expectation.
func (s *suite) compareCard(ctx context.Context, w *Work, id int64, from, to string) error {
	want := w.Expect
	if want.Shifts == 0 && want.Punches == 0 && want.Exceptions == nil {
		return nil
	}
	var cards []struct {
		Punches, WorkedShifts []any
		Exceptions            []struct {
			ApplyDate     string
			ExceptionType struct{ Name string }
		}
	}
	_, err := s.api.Call(ctx, http.MethodPost, "/v1/timekeeping/timecard/multi_read", scenario.Object{
		"select": []string{"PUNCHES", "WORKED_SHIFTS", "EXCEPTIONS"},
		"where":  scenario.Object{"employees": scenario.Object{"ids": []int64{id}}, "dateRange": scenario.Object{"startDate": from, "endDate": to}},
	}, &cards)
	if err != nil {
		return err
	}
	if len(cards) != 1 {
		return fmt.Errorf("%d timecards were read", len(cards))
	}
	var exceptions []string
	for _, e := range cards[0].Exceptions {
		exceptions = append(exceptions, e.ApplyDate+" "+e.ExceptionType.Name)
	}
	var errs []error
	if n := len(cards[0].WorkedShifts); want.Shifts != 0 && n != want.Shifts {
		errs = append(errs, fmt.Errorf("%d shifts were worked instead of %d", n, want.Shifts))
	}
	if n := len(cards[0].Punches); want.Punches != 0 && n != want.Punches {
		errs = append(errs, fmt.Errorf("%d punches are shown instead of %d", n, want.Punches))
	}
	if want.Exceptions != nil && !slices.Equal(exceptions, want.Exceptions) {
		errs = append(errs, fmt.Errorf("exceptions are %q instead of %q", exceptions, want.Exceptions))
	}
	return errors.Join(errs...)
}
