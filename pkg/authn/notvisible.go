package authn

import (
	"context"
	"slices"
	"sync"
)

// NotVisible is the outcome of a call that named somebody whom the caller may not
// see. The caller learns that nobody is there.
const NotVisible = "not_visible"

// maxItems bounds the codes that are noted of the items of one call.
const maxItems = 5

// Watched is what is noted for the audit trail while a call runs. It is safe for
// concurrent use.
type Watched struct {
	mu         sync.Mutex
	notVisible bool
	items      []string
}

// NotVisible reports whether the caller named somebody whom they may not see.
func (w *Watched) NotVisible() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notVisible
}

// Items returns the codes with which parts of the call were refused.
func (w *Watched) Items() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.items
}

type watchedKey struct{}

// Watch returns a context in which NoteNotVisible and NoteRefusedItem have an effect.
func Watch(ctx context.Context) (context.Context, *Watched) {
	w := &Watched{}
	return context.WithValue(ctx, watchedKey{}, w), w
}

// NoteNotVisible notes for the audit trail that the caller named somebody whom they may
// not see. It is called where that is found out, by whoever then treats the
// person as unknown; not where the unseen are left out of what nobody named.
func NoteNotVisible(ctx context.Context) {
	if w, ok := ctx.Value(watchedKey{}).(*Watched); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notVisible = true
	}
}

// NoteRefusedItem notes for the audit trail that a part of a call was refused with a
// code, because of a rule about who may do what. It is for calls that do the
// rest: the error of a whole call is noted by itself.
func NoteRefusedItem(ctx context.Context, code string) {
	if w, ok := ctx.Value(watchedKey{}).(*Watched); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.items) < maxItems && !slices.Contains(w.items, code) {
			w.items = append(w.items, code)
		}
	}
}
