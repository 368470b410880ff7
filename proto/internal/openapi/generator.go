package openapi

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
)

// oauthError is the name of the schema of errors of RFC 6749, section 5.2.
const oauthError = "auth.OAuthError"

// errorItems is the name of the schema of errors of operations with error_items.
const errorItems = "common.ErrorItems"

const (
	errorBodyName = "rotaloom.common.v1.ErrorBody"
	errorBodyRef  = "#/components/schemas/common.ErrorBody"
	errorItemsRef = "#/components/schemas/" + errorItems
)

// generator generates one description.
type generator struct {
	schemas   *schemas
	cases     *contractCases
	examples  *exampleSet
	errorBody *protogen.Message
	// sharedErrors are the error responses that many routes share.
	sharedErrors *Map[*Response]
}

// Generate describes the operations with a route of all services in files. The errors of operations come from the
// contract cases below the root of cases, and the examples from the files below the root of examples.
func Generate(files []*protogen.File, cases, examples fs.FS) (*Document, error) {
	steps, err := loadSteps(cases)
	if err != nil {
		return nil, fmt.Errorf("read contract cases: %w", err)
	}
	all, err := allRoutes(files)
	if err != nil {
		return nil, err
	}
	requests, err := loadExamples(examples, all)
	if err != nil {
		return nil, fmt.Errorf("read examples: %w", err)
	}
	g := &generator{
		schemas:      &schemas{named: &Map[*Schema]{}},
		cases:        &contractCases{steps: sortSteps(steps, all)},
		examples:     requests,
		errorBody:    findMessage(files, errorBodyName),
		sharedErrors: &Map[*Response]{},
	}
	if g.errorBody == nil {
		return nil, errors.New(errorBodyName + " is missing")
	}
	d, err := g.document(files, all)
	if err != nil {
		return nil, err
	}
	return d, checkExamples(d)
}

func allRoutes(files []*protogen.File) ([]*route, error) {
	var all []*route
	for _, file := range files {
		for _, service := range file.Services {
			for _, method := range service.Methods {
				found, err := routes(method)
				if err != nil {
					return nil, err
				}
				all = append(all, found...)
			}
		}
	}
	return all, nil
}

func findMessage(files []*protogen.File, name string) *protogen.Message {
	for _, file := range files {
		for _, m := range file.Messages {
			if string(m.Desc.FullName()) == name {
				return m
			}
		}
	}
	return nil
}

func (g *generator) document(files []*protogen.File, all []*route) (*Document, error) {
	d := head()
	slices.SortStableFunc(all, func(a, b *route) int { return strings.Compare(a.path, b.path) })
	ids := map[string]string{}
	for _, r := range all {
		if !d.Paths.Has(r.path) {
			d.Paths.Set(r.path, &PathItem{})
		}
		o := g.operation(r)
		if err := g.examples.addTo(o.Parameters, r); err != nil {
			return nil, err
		}
		if other := ids[o.OperationID]; other != "" {
			return nil, fmt.Errorf("%s and %s would both be called %s", other, r.key(), o.OperationID)
		}
		ids[o.OperationID] = r.key()
		if err := putOperation(d.Paths.Get(r.path), r.verb, o); err != nil {
			return nil, fmt.Errorf("%s: %w", r.key(), err)
		}
	}
	addTags(d, files)
	g.schemas.named.Set(oauthError, oauthErrorSchema())
	if slices.ContainsFunc(all, (*route).errorItems) {
		g.schemas.named.Set(errorItems, errorItemsSchema())
	}
	nameWords(g.schemas.named)
	d.Components.Schemas, d.Components.Responses = sortedMap(g.schemas.named), sortedMap(g.sharedErrors)
	d.Components.Parameters, d.Components.Headers = headerParameters(), responseHeaders()
	return d, nil
}

func putOperation(item *PathItem, verb string, o *Operation) error {
	at := map[string]**Operation{
		http.MethodGet: &item.Get, http.MethodPut: &item.Put,
		http.MethodPost: &item.Post, http.MethodDelete: &item.Delete, http.MethodPatch: &item.Patch,
	}[verb]
	if *at != nil {
		return fmt.Errorf("also belongs to %s", (*at).Method)
	}
	*at = o
	return nil
}

func sortedMap[V any](from *Map[V]) *Map[V] {
	out := &Map[V]{}
	names := slices.Clone(from.Keys())
	slices.Sort(names)
	for _, name := range names {
		out.Set(name, from.Get(name))
	}
	return out
}

// addTags adds one tag for each service with routes, grouped by domain.
func addTags(d *Document, files []*protogen.File) {
	used := map[string]bool{}
	for _, path := range d.Paths.Keys() {
		for _, o := range d.Paths.Get(path).operations() {
			used[o.Tags[0]] = true
		}
	}
	groups := map[string]int{}
	for _, file := range files {
		for _, service := range file.Services {
			name, domain := tagName(service), domainTitle(service)
			if !used[name] {
				continue
			}
			d.Tags = append(d.Tags, Tag{Name: name, Description: comment(service.Comments)})
			at, ok := groups[domain]
			if !ok {
				at = len(d.TagGroups)
				groups[domain] = at
				d.TagGroups = append(d.TagGroups, TagGroup{Name: domain})
			}
			d.TagGroups[at].Tags = append(d.TagGroups[at].Tags, name)
		}
	}
}
