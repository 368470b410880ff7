// Package catalogue knows which data elements there are, and serves the dictionary that
// describes them.
package catalogue

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

const (
	// describedFor is how long what a service said of its providers is believed.
	describedFor = time.Minute
	// describeWithin bounds the wait for that.
	describeWithin = 5 * time.Second
	// describeAgain is when a service that did not respond is asked again, so that
	// not every request waits for it.
	describeAgain = 2 * time.Second
)

// Provider is a provider with the service that has it.
type Provider struct {
	*datav1.DataProvider
	Client datav1.DataProviderServiceClient
}

// Element is a data element with its provider.
type Element struct {
	*datav1.DataElement
	Provider *Provider
}

// Catalogue knows the elements of all services. It asks each of them now and
// then; a service that does not respond keeps the elements it had.
type Catalogue struct {
	clients []datav1.DataProviderServiceClient
	clock   clock.Clock

	mu     sync.Mutex
	known  []described // of each client
	merged *Elements
}

type described struct {
	providers []*datav1.DataProvider
	until     time.Time
}

// byKind is an element, as the provider of each kind of rows has it.
type byKind []*Element

// Of returns the element of a kind of rows; nil when there is none.
func (b byKind) Of(kind datav1.RowKind) *Element {
	i := slices.IndexFunc(b, func(e *Element) bool { return e.Provider.GetRowKind() == kind })
	if i < 0 {
		return nil
	}
	return b[i]
}

// Elements are all that are known. It is never changed.
type Elements struct {
	// byKey has the element of each kind of rows that has one.
	byKey     map[string]byKind
	providers []*Provider
	// missing says that a service has never said what it has.
	missing bool
}

// New returns the catalogue of the elements that services have. It asks none of them yet.
func New(clk clock.Clock, clients ...datav1.DataProviderServiceClient) *Catalogue {
	return &Catalogue{clients: clients, clock: clk, known: make([]described, len(clients))}
}

// Elements returns what is known now.
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

// refresh asks the services again, side by side.
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
			of := &Provider{DataProvider: p, Client: c.clients[i]}
			out.providers = append(out.providers, of)
			for _, e := range p.GetElements() {
				if out.byKey[e.GetKey()].Of(p.GetRowKind()) == nil {
					out.byKey[e.GetKey()] = append(out.byKey[e.GetKey()], &Element{DataElement: e, Provider: of})
				}
			}
		}
	}
	return out
}

// Find returns the element with a key.
func (e *Elements) Find(key string) (byKind, error) {
	if found := e.byKey[key]; found != nil {
		return found, nil
	}
	if e.missing {
		return nil, fault.Unavailable("Not all data providers can be reached at the moment, so that it cannot be known which data elements there are.", 5*time.Second)
	}
	return nil, errcode.Invalid(errcode.CodeBadRequest, "There is no data element %q. GET /v1/commons/data_dictionary/data_elements lists them.", errcode.Shortened(key))
}

// all returns the elements by key.
func (e *Elements) all() []byKind {
	return slices.SortedFunc(maps.Values(e.byKey), func(a, b byKind) int { return strings.Compare(a[0].GetKey(), b[0].GetKey()) })
}
