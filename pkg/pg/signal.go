package pg

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Signal is a message of a transaction to its own process: after the commit, the functions that
// listen for it on the pool are called.
type Signal string

// listener is a function that listens for a signal.
type listener struct {
	signal Signal
	call   func()
}

// Listen calls fn after each commit of a transaction of the pool that raised the signal. fn runs in
// the goroutine that committed, so it must not block.
func (p *Pool) Listen(signal Signal, fn func()) {
	p.listening.Lock()
	defer p.listening.Unlock()
	p.listeners = append(p.listeners, listener{signal, fn})
}

// announce calls the functions that listen for the signals.
func (p *Pool) announce(signals []Signal) {
	if len(signals) == 0 {
		return
	}
	p.listening.RLock()
	defer p.listening.RUnlock()
	for _, l := range p.listeners {
		if slices.Contains(signals, l.signal) {
			l.call()
		}
	}
}

// errForeignTx means that a transaction was not begun on a Pool.
var errForeignTx = errors.New("pg: the transaction was not begun on a pool, and cannot raise a signal")

// RaiseOnCommit raises a signal when the transaction commits, once however often it is called. A
// signal that was raised inside a rolled-back savepoint is lost. The transaction must belong to a
// [Pool], or be a savepoint inside such a transaction.
func RaiseOnCommit(tx pgx.Tx, signal Signal) error {
	ours, ok := tx.(*poolTx)
	if !ok {
		return errForeignTx
	}
	ours.raise(signal)
	return nil
}

// poolTx is a transaction of a pool, or a savepoint inside one. It collects the signals to announce
// after its commit.
type poolTx struct {
	pgx.Tx
	pool *Pool
	// parent is the transaction around a savepoint, or nil.
	parent *poolTx
	raised []Signal
}

func (t *poolTx) raise(signals ...Signal) {
	for _, s := range signals {
		if !slices.Contains(t.raised, s) {
			t.raised = append(t.raised, s)
		}
	}
}

// Begin sets a savepoint.
func (t *poolTx) Begin(ctx context.Context) (pgx.Tx, error) {
	savepoint, err := t.Tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &poolTx{Tx: savepoint, pool: t.pool, parent: t}, nil
}

// Commit commits the transaction and announces its signals. A savepoint passes them to the
// transaction around it.
func (t *poolTx) Commit(ctx context.Context) error {
	if err := t.Tx.Commit(ctx); err != nil {
		return err
	}
	t.announce()
	return nil
}

// announce passes the signals on after a commit.
func (t *poolTx) announce() {
	if t.parent != nil {
		t.parent.raise(t.raised...)
		return
	}
	t.pool.announce(t.raised)
}
