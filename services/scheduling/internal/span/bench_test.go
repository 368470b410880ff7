package span_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// ordinary is what most employees have: one term with one pattern, which has just changed.
func ordinary() (in span.Input, current []span.Span) {
	a := pattern(1, termA, 0, 400)
	a.To = civil.Forever
	in = span.Input{Assignments: []span.Assignment{a}, Memberships: []span.Membership{member(termA, 30, 3000)}}
	return in, []span.Span{wantSpan(pattern(7, termA, 0, 400), 0, 30, 3000)}
}

// busy is about the most that anyone has: a changed rotation a quarter, two people to stand in for, and a lock a month.
func busy() (in span.Input, current []span.Span) {
	for i := range 12 {
		a := pattern(int64(i+1), termA, i*90, 5000)
		a.Override = true
		in.Assignments = append(in.Assignments, a)
		in.Locks = append(in.Locks, days(i*30, i*30+28))
	}
	for i := range 2 {
		a := pattern(int64(i+1), 0, 50+i*100, 90+i*100)
		a.Lane = 8
		in.Assignments = append(in.Assignments, a)
	}
	in.Memberships = []span.Membership{member(termA, 0, 700), member(termB, 0, 900), member(termA, 800, 3000)}
	in.Current = []span.Span{wantSpan(pattern(7, termA, 0, 400), 0, 0, 700)}
	return in, in.Current
}

func TestResolverDoesNotAllocateTwice(t *testing.T) {
	for _, employee := range []func() (span.Input, []span.Span){ordinary, busy} {
		var r span.Resolver
		in, current := employee()
		require.Zero(t, testing.AllocsPerRun(100, func() {
			spans, err := r.Resolve(in)
			if err != nil {
				t.Error(err)
			}
			r.Diff(current, spans)
		}))
	}
}

func BenchmarkResolve(b *testing.B) {
	for name, employee := range map[string]func() (span.Input, []span.Span){"ordinary": ordinary, "busy": busy} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var r span.Resolver
			in, current := employee()
			for range b.N {
				spans, err := r.Resolve(in)
				if err != nil {
					b.Fatal(err)
				}
				r.Diff(current, spans)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Memployees/s")
		})
	}
}
