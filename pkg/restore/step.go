package restore

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// evidence returns the knowledge of others about the watermarks of this database.
func (g *Guard) evidence() evidence {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := evidence{read: g.bucket != nil, overdue: g.bucket == nil && g.started.Elapsed() > brokerWait}
	if own, found := g.seen[g.opts.Service]; found {
		watermarks := own.Clone()
		e.watermarks, e.firstHand = &watermarks, own.FirstHand
	}
	e.complete = g.missing != nil && g.missing.Elapsed() > neighbourWait
	return e
}

// step reads the database once and acts on the result: it opens the database or refuses writes,
// counts progress, and publishes the watermarks.
func (g *Guard) step(ctx context.Context) error {
	// Read the evidence first. It was durable before it was published, so the database, which is
	// read afterwards, must contain it.
	known := g.evidence()
	phase := g.current().phase
	var has snapshot
	var reason string
	var verdict verdict
	err := unaudited.InTx(tenant.All(ctx), g.opts.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if has, err = readSnapshot(ctx, tx); err != nil {
			return err
		}
		switch {
		case has.restored:
			verdict, reason = refuse, has.reason
		case phase == restored:
			verdict = open // The operator has finished the restore, based on all known watermarks.
		case phase == opened:
			verdict, reason = g.reconsider(has, known)
		default:
			verdict, reason = decide(has, known)
		}
		return g.apply(ctx, tx, &has, verdict, reason, known)
	})
	if err != nil {
		return err
	}
	switch verdict {
	case wait:
		return nil
	case refuse:
		g.set(ctx, restored, reason)
		g.notePlace(place{has.place, has.timeline})
		return g.storeWitnesses(ctx)
	}
	if verdict == leapFull {
		g.opts.Log.WarnContext(ctx, "the last ids of the database are unknown, so it skips ids", "service", g.opts.Service)
	}
	g.durable.Merge(has.watermarks)
	g.notePlace(place{has.place, has.timeline})
	g.set(ctx, opened, "")
	if err := g.publish(ctx); err != nil {
		return err
	}
	return g.storeWitnesses(ctx)
}

// reconsider returns the verdict about an open database: it may have been replaced while this
// program ran.
func (g *Guard) reconsider(has snapshot, known evidence) (verdict, string) {
	before := g.durable.Clone()
	if known.watermarks != nil {
		before.Merge(*known.watermarks)
	}
	if above := before.Lost(has.watermarks); len(above) > 0 {
		return refuse, lostReason(above)
	}
	if has.recordedPlace != has.place || has.recordedTimeline != has.timeline {
		return leapSmall, ""
	}
	return open, ""
}

// apply executes a verdict, and updates the watermarks of has.
func (g *Guard) apply(ctx context.Context, tx pgx.Tx, has *snapshot, verdict verdict, reason string, known evidence) error {
	if verdict == wait {
		return nil
	}
	if verdict == refuse {
		if has.restored {
			return nil
		}
		higher := g.durable.Clone()
		if known.watermarks != nil {
			higher.Merge(*known.watermarks)
		}
		return refuseWrites(ctx, tx, g.opts.Service, reason, higher)
	}
	moved := has.recordedPlace != has.place || has.recordedTimeline != has.timeline
	if verdict == open && !moved && maps.Equal(has.watermarks.Sequences, g.durable.Sequences) {
		return nil
	}
	if _, err := tx.Exec(ctx, commitDurably); err != nil {
		return err
	}
	if verdict == leapSmall || verdict == leapFull {
		higher := Watermarks{}
		if known.watermarks != nil {
			higher = *known.watermarks
		}
		if err := raiseSequences(ctx, tx, higher, verdict == leapSmall); err != nil {
			return err
		}
	}
	if moved {
		if _, err := tx.Exec(ctx, recordPlace, has.place, has.timeline); err != nil {
			return err
		}
	}
	// Read the sequences again after the leap, and before the commit.
	var err error
	if has.watermarks.Sequences, err = readSequences(ctx, tx); err != nil {
		return err
	}
	return tx.QueryRow(ctx, countProgress).Scan(&has.watermarks.Progress)
}

// publish raises the watermarks in the bucket to the durable ones.
func (g *Guard) publish(ctx context.Context) error {
	g.mu.Lock()
	to, seen := g.bucket, g.seen[g.opts.Service]
	g.mu.Unlock()
	if to == nil || seen.FirstHand && len(g.durable.Above(seen.Watermarks)) == 0 {
		return nil
	}
	return g.merge(ctx, to, g.opts.Service, g.durable, true)
}

// merge raises the bucket's watermarks of a service. If another program writes the entry at the same
// time, the watch delivers that entry, and the next step tries again.
func (g *Guard) merge(ctx context.Context, to *bucket, service string, watermarks Watermarks, firstHand bool) error {
	g.mu.Lock()
	seen := g.seen[service]
	g.mu.Unlock()
	made, err := to.merge(ctx, service, watermarks, firstHand, seen)
	if err != nil {
		if isConflict(err) {
			return nil
		}
		return err
	}
	g.learn(service, made)
	return nil
}

// storeWitnesses stores new watermarks of the other services, at most every witnessEvery.
func (g *Guard) storeWitnesses(ctx context.Context) error {
	if g.stored != nil && g.stored.Elapsed() < witnessEvery {
		return nil
	}
	since := clock.Start()
	g.stored = &since
	changed := map[string]Watermarks{}
	g.mu.Lock()
	for service, e := range g.seen {
		if service != g.opts.Service && len(e.Above(g.witnessed[service])) > 0 {
			changed[service] = e.Clone()
		}
	}
	g.mu.Unlock()
	if len(changed) == 0 {
		return nil
	}
	err := unaudited.InTx(tenant.All(ctx), g.opts.Pool, func(ctx context.Context, tx pgx.Tx) error {
		for service, watermarks := range changed {
			if err := StoreWitness(ctx, tx, service, watermarks); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		maps.Copy(g.witnessed, changed)
	}
	return err
}
