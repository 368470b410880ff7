package historytest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeeschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// question asks for one kind of data about an instant.
type question struct {
	at   time.Time
	kind int
}

// past asks about the past of all employees.
type past struct {
	*fixture

	patterns schedulingv1.EmployeeSchedulePatternServiceClient
	owners   []*commonv1.Ref
}

func newPast(w *fixture) *past {
	schedulingv1.RegisterEmployeeSchedulePatternServiceServer(w.Local, employeeschedulepattern.New(employeeschedulepattern.Deps{
		Pool: w.Pool, Definitions: patterndefinition.New(patterndefinition.Settings{}, nil, nil), Directory: projection.NewResolver(w.Pool, nil, nil),
		Instants: asof.New(w.reader, -1),
	}))
	p := &past{fixture: w, patterns: schedulingv1.NewEmployeeSchedulePatternServiceClient(w.Conn())}
	for _, id := range employees {
		p.owners = append(p.owners, &commonv1.Ref{Id: proto.Int64(id)})
	}
	return p
}

// kinds of questions: schedules, assignments, and the rows of all kinds, memberships included.
const kinds = 3

// ask returns the response to a question.
func (p *past) ask(q question) (string, error) {
	text := request.FormatInstant(q.at)
	var response proto.Message
	var err error
	switch q.kind {
	case 0:
		response, err = p.schedules.MultiReadSchedule(p.Ctx, &schedulingv1.MultiReadScheduleRequest{
			MultiReadOptions: &schedulingv1.MultiReadOptions{AsOfDateTime: text},
			Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
				EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: asked.Days.From.String(), EndDate: asked.Days.To.String(),
			}},
		})
	case 1:
		response, err = p.patterns.MultiReadEmployeeSchedulePatterns(p.Ctx, &schedulingv1.MultiReadEmployeeSchedulePatternsRequest{
			Body: &schedulingv1.MultiReadEmployeeSchedulePatterns{
				MultiReadOptions: &schedulingv1.SchedulePatternReadOptions{AsOfDateTime: text},
				Where:            &schedulingv1.EmployeeSchedulePatternWhere{Employees: &schedulingv1.EmployeeSchedulePatternEmployees{EmployeeRefs: p.owners}},
			},
		})
	default:
		found, err := p.reader.Settle(p.Ctx, q.at)
		if err != nil {
			return "", err
		}
		if !found.Settled {
			return "", fault.Newf("WRL-00450", http.StatusBadRequest, "not settled").WithRetryAfter(time.Second)
		}
		return p.readAsOf(employees, found.At)
	}
	if err != nil {
		return "", err
	}
	fields, err := proto.MarshalOptions{Deterministic: true}.Marshal(response)
	return string(fields), err
}

// askSettled repeats a question as long as the instant is not settled, as the error says.
func (p *past) askSettled(q question) (response string, refused int, err error) {
	for {
		response, err = p.ask(q)
		f := fault.FromError(err)
		if err == nil || f.Code != "WRL-00450" {
			return response, refused, err
		}
		if f.Status != http.StatusBadRequest || f.RetryAfter != time.Second {
			return "", refused, fmt.Errorf("an unsettled instant has status %d and is to be sent again after %v: %w", f.Status, f.RetryAfter, err)
		}
		if refused++; refused > 10_000 {
			return "", refused, errors.New("the instant is never settled")
		}
	}
}

// The response to a question about an instant is the same every time, while people, propagations and
// other domains change schedules.
func TestTheSameQuestionAboutThePastHasTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := newPast(w)
	questions := 10_000
	if testing.Short() {
		questions = 1_000
	}
	seed := rand.Uint64()
	t.Log("seed", seed)
	for _, id := range employees {
		require.NoError(t, w.assign(id, 20_000, w.patterns[0]))
	}
	// Each tenth question lets a writer make a change.
	turns := make(chan struct{}, questions)
	var writing, asking errgroup.Group
	for n := range writers {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		writing.Go(func() error {
			for range turns {
				// What collides is refused.
				if err := w.change(random); err != nil && fault.FromError(err).Status >= 500 {
					return err
				}
			}
			return nil
		})
	}
	var mu sync.Mutex
	var known []question
	responses := map[question]string{}
	var sent, unsettled atomic.Int64
	for n := range 4 {
		random := rand.New(rand.NewPCG(seed, uint64(100+n)))
		asking.Go(func() error {
			for {
				number := sent.Add(1)
				if number > int64(questions) {
					return nil
				}
				if number%10 == 0 {
					turns <- struct{}{}
				}
				mu.Lock()
				q := question{at: time.Now().UTC().Truncate(time.Microsecond), kind: random.IntN(kinds)}
				if len(known) > 0 && random.IntN(20) > 0 {
					q = known[random.IntN(len(known))]
				}
				before, repeated := responses[q]
				mu.Unlock()
				response, refused, err := p.askSettled(q)
				switch {
				case err != nil:
					return err
				case !repeated:
					unsettled.Add(int64(refused))
					mu.Lock()
					known, responses[q] = append(known, q), response
					mu.Unlock()
				case before != response:
					return fmt.Errorf("as of %s the response to a question of kind %d was\n%x\nand is now\n%x", q.at, q.kind, before, response)
				}
			}
		})
	}
	err := asking.Wait()
	close(turns)
	require.NoError(t, writing.Wait())
	require.NoError(t, err)
	var distinct [kinds]map[string]bool
	for q, before := range responses {
		response, err := p.ask(q)
		require.NoError(t, err)
		require.Equal(t, before, response, "as of %s, after all changes", q.at)
		if distinct[q.kind] == nil {
			distinct[q.kind] = map[string]bool{}
		}
		distinct[q.kind][response] = true
	}
	t.Log("questions that were not settled at first:", unsettled.Load())
	for kind, different := range distinct {
		t.Logf("kind %d: %d different responses", kind, len(different))
		assert.Greater(t, len(different), 5, "kind %d", kind)
	}
}

// While numbers are ahead of the clock, a time is settled when no change that drew its number before can
// still be committed.
func TestATimeIsSettledAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.Exec(t, "SELECT setval('schedule_revision', $1)", time.Now().Add(3*time.Hour).UnixMicro())
	open := begin(t, w.Env)
	drawn := member(t, w.Env, open, 5)
	var given time.Time
	require.NoError(t, w.Pool.QueryRow(w.Ctx, "SELECT clock_timestamp()").Scan(&given))

	found, err := w.reader.Settle(w.Ctx, given)
	require.NoError(t, err)
	assert.False(t, found.Settled, "the open change drew its number before")
	require.NoError(t, open.Commit(w.Ctx))
	first, err := w.reader.Settle(w.Ctx, given)
	require.NoError(t, err)
	require.True(t, first.Settled)
	assert.False(t, first.At.Before(drawn), "the change is included")

	require.NoError(t, w.enter(employees[0], 20_001))
	again, err := w.reader.Settle(w.Ctx, given)
	require.NoError(t, err)
	require.True(t, again.Settled)
	assert.True(t, again.At.Equal(first.At), "later changes are not")
}
