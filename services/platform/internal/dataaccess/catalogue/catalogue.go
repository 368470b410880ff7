// Package catalogue knows the data elements of all services, and serves the dictionary that describes them.
package catalogue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

const (
	// describedFor is how long a service's description of its providers is cached.
	describedFor = time.Minute
	// describeWithin bounds the wait for a description.
	describeWithin = 5 * time.Second
	// describeAgain is the pause before a service that did not respond is asked again, so that not all requests
	// wait for it.
	describeAgain = 2 * time.Second
)

// Provider is a provider with the client of its service.
type Provider struct {
	*datav1.DataProvider
	Client datav1.DataProviderServiceClient
}

// Element is a data element with its provider.
type Element struct {
	*datav1.DataElement
	Provider *Provider
}

// Catalogue caches the elements of all services. It refreshes them periodically; for a service that does not
// respond, it keeps the earlier elements.
type Catalogue struct {
	clients []datav1.DataProviderServiceClient
	clock   clock.Clock

	mu     sync.Mutex
	known  []described // by client
	merged *Elements
}

type described struct {
	providers []*datav1.DataProvider
	until     time.Time
}

// byKind is an element with one entry for each kind of rows.
type byKind []*Element

// Of returns the element for a kind of rows, or nil.
func (b byKind) Of(kind datav1.RowKind) *Element {
	i := slices.IndexFunc(b, func(e *Element) bool { return e.Provider.GetRowKind() == kind })
	if i < 0 {
		return nil
	}
	return b[i]
}

// Elements are all known elements. They are immutable.
type Elements struct {
	// byKey contains the elements by key.
	byKey     map[string]byKind
	providers []*Provider
	// missing means that a service has never returned its elements.
	missing bool
}

// New returns the catalogue of the services' elements. It makes no calls.
func New(clk clock.Clock, clients ...datav1.DataProviderServiceClient) *Catalogue {
	return &Catalogue{clients: clients, clock: clk, known: make([]described, len(clients))}
}

// Elements returns the current elements.
func (c *Catalogue) Elements(ctx context.Context) *Elements {
	c.mu.Lock()
	now, stale := c.clock.Now(), []int(nil)
	for i := range c.known {
		if !now.Before(c.known[i].until) {
			stale = append(stale, i)
		}
	}
	merged := c.merged
	c.mu.Unlock()
	if len(stale) == 0 && merged != nil {
		return merged
	}
	return c.refresh(ctx, stale)
}

// refresh asks the services concurrently.
func (c *Catalogue) refresh(ctx context.Context, stale []int) *Elements {
	ctx, cancel := context.WithTimeout(ctx, describeWithin)
	defer cancel()
	fetched := make([][]*datav1.DataProvider, len(stale))
	var running sync.WaitGroup
	for k, i := range stale {
		running.Go(func() {
			if response, err := c.clients[i].DescribeDataElements(ctx, &datav1.DescribeDataElementsRequest{}); err == nil {
				fetched[k] = response.GetProviders()
			}
		})
	}
	running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, i := range stale {
		if fetched[k] != nil {
			c.known[i] = described{providers: fetched[k], until: c.clock.Now().Add(describedFor)}
		} else {
			c.known[i].until = c.clock.Now().Add(describeAgain)
		}
	}
	c.merged = c.merge()
	return c.merged
}

func (c *Catalogue) merge() *Elements {
	out := &Elements{byKey: map[string]byKind{}}
	for i, d := range c.known {
		out.missing = out.missing || d.providers == nil
		for _, p := range d.providers {
			provider := &Provider{DataProvider: p, Client: c.clients[i]}
			out.providers = append(out.providers, provider)
			for _, e := range p.GetElements() {
				if out.byKey[e.GetKey()].Of(p.GetRowKind()) == nil {
					out.byKey[e.GetKey()] = append(out.byKey[e.GetKey()], &Element{DataElement: e, Provider: provider})
				}
			}
		}
	}
	return out
}

// ErrUnknown is the cause of errors about data elements that do not exist, or not in a view.
var ErrUnknown = errors.New("unknown data element")

// Find returns the element with a key. If there is none, the cause of the error is [ErrUnknown].
func (e *Elements) Find(key string) (byKind, error) {
	if found := e.byKey[key]; found != nil {
		return found, nil
	}
	if e.missing {
		return nil, fault.Unavailable("Not all data providers are reachable at the moment, so the list of data elements is incomplete. Try again.", 5*time.Second)
	}
	return nil, errcode.Invalid(errcode.CodeBadRequest, "There is no data element %q. GET /v1/commons/data_dictionary/data_elements lists them.", errcode.Shorten(key)).
		WithCause(ErrUnknown)
}

// Suggest adds the key nearest to an unknown one to its error.
func (e *Elements) Suggest(key string, unknown *fault.Error) *fault.Error {
	if e.byKey[key] != nil {
		return unknown // It exists, in another view.
	}
	return unknown.WithMessage(unknown.Message + suggest.Hint(key, maps.Keys(e.byKey)))
}

// all returns the elements, sorted by key.
func (e *Elements) all() []byKind {
	return slices.SortedFunc(maps.Values(e.byKey), func(a, b byKind) int { return strings.Compare(a[0].GetKey(), b[0].GetKey()) })
}
