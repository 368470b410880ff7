package authn

import (
	"context"
	"slices"
	"sync"
)

// NotVisible is the outcome of a call that named a person whom the caller may not see. The response
// treats the person as unknown.
const NotVisible = "not_visible"

// maxItems bounds the recorded codes of the items of one call.
const maxItems = 5

// Watched collects notes for the audit log while a call runs. It is safe for concurrent use.
type Watched struct {
	mu         sync.Mutex
	notVisible bool
	items      []string
}

// NotVisible reports whether the caller named a person whom they may not see.
func (w *Watched) NotVisible() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notVisible
}

// Items returns the codes of the denied parts of the call.
func (w *Watched) Items() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.items
}

type watchedKey struct{}

// Watch returns a context in which NoteNotVisible and NoteDeniedItem have an effect.
func Watch(ctx context.Context) (context.Context, *Watched) {
	w := &Watched{}
	return context.WithValue(ctx, watchedKey{}, w), w
}

// NoteNotVisible records for the audit log that the caller named a person whom they may not see.
// Call it where the code finds that out and then treats the person as unknown; do not call it where
// a list leaves out persons that the caller did not name.
func NoteNotVisible(ctx context.Context) {
	if w, ok := ctx.Value(watchedKey{}).(*Watched); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notVisible = true
	}
}

// NoteDeniedItem records for the audit log that a part of a call was denied with a code. It is for
// calls that complete their other parts: the error of a whole call is recorded anyway.
func NoteDeniedItem(ctx context.Context, code string) {
	if w, ok := ctx.Value(watchedKey{}).(*Watched); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.items) < maxItems && !slices.Contains(w.items, code) {
			w.items = append(w.items, code)
		}
	}
}
