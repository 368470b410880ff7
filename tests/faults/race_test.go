package faults

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Two changes follow each other quickly while others read and write. The later one holds.
func TestLaterChangeHolds(t *testing.T) {
	w := newFixture(t)
	size := shortOrLong(1000, 5000)
	crew, assigned := w.working(size, first)
	traffic := w.traffic(crew)
	defer traffic.stop()
	// Each rotation differs from the current one, because recreating the current one changes nothing.
	rotations := []rotation{second, third, first}
	for round := range shortOrLong(4, 40) {
		before, after := rotations[2*round%3], rotations[(2*round+1)%3]
		one := w.recreate(crew, assigned.ID, before)
		two := w.recreate(crew, assigned.ID, after)
		w.finish(two.Propagation, size)
		w.requireShifts(after, sample(crew.Persons, 50))
		w.finish(one.Propagation, size)
		w.requireShifts(after, sample(crew.Persons, 50))
	}
	traffic.stop()
	w.verify()
}

// Persons move between two terms whose patterns change at the same time. In the end all of them
// have the last pattern of their last term.
func TestMembershipsRaceWithPatterns(t *testing.T) {
	w := newFixture(t)
	size := shortOrLong(300, 2000)
	crews := []*scenario.Crew{w.crew(size), w.crew(size)}
	persons := append(append([]int64{}, crews[0].Persons...), crews[1].Persons...)
	patterns := []rotation{first, second}
	assigned := []scenario.Assignment{w.assign(crews[0], first), w.assign(crews[1], second)}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)

	var group errgroup.Group
	termOf := make([]int, len(persons)) // the term of each share of persons; the persons of a share move together
	const share = 50
	for begin := 0; begin < len(persons); begin += share {
		random := rand.New(rand.NewPCG(seed, uint64(begin)))
		group.Go(func() error {
			for range shortOrLong(6, 60) {
				termOf[begin] = random.IntN(2)
				moving := persons[begin:min(begin+share, len(persons))]
				if err := scenario.PutOnTerm(w.ctx, w.api, crews[termOf[begin]].TermID, moving, hired, forever); err != nil {
					return err
				}
			}
			return nil
		})
	}
	holds := make([]rotation, 2)
	for i, crew := range crews {
		random := rand.New(rand.NewPCG(seed, uint64(len(persons)+i)))
		group.Go(func() error {
			for range shortOrLong(8, 80) {
				holds[i] = patterns[random.IntN(2)]
				if _, err := crew.Recreate(w.ctx, w.api, assigned[i].ID, holds[i].pattern(), monday); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	w.verify()
	for begin := 0; begin < len(persons); begin += share {
		moved := persons[begin:min(begin+share, len(persons))]
		w.awaitShifts(holds[termOf[begin]], moved)
	}
	w.verify()
}
