// Package timezone serves the time zones of the IANA database, with the rules of their clocks for clients that
// calculate local times themselves.
package timezone

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

const (
	// CodeUnknown (404): no time zone has the id. List the time zones.
	CodeUnknown = "WRL-10701"
	// CodeSeveral (400): the query names more than one time zone. Send only one of its parameters.
	CodeSeveral = "WRL-10702"
)

// Persons finds the time zones of persons.
type Persons interface {
	// FindZone returns the IANA name of a visible person's time zone today.
	FindZone(ctx context.Context, person store.Key) (string, error)
}

// Locations finds locations.
type Locations interface {
	GetLocation(ctx context.Context, req *commonsv1.GetLocationRequest) (*commonsv1.Location, error)
}

// Handler serves TimeZoneService.
type Handler struct {
	commonsv1.UnsafeTimeZoneServiceServer

	persons   Persons
	locations Locations
	clock     clock.Clock
}

// New returns a Handler.
func New(persons Persons, locations Locations, clk clock.Clock) *Handler {
	return &Handler{persons: persons, locations: locations, clock: clk}
}

// ListTimeZones returns all time zones, or the one that the query names.
func (h *Handler) ListTimeZones(ctx context.Context, req *commonsv1.ListTimeZonesRequest) (*commonsv1.TimeZoneList, error) {
	names, err := h.findNames(ctx, req)
	if err != nil {
		return nil, err
	}
	out := &commonsv1.TimeZoneList{TimeZones: make([]*commonsv1.TimeZone, len(names))}
	for i, name := range names {
		if out.TimeZones[i], err = h.newTimeZone(ctx, name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findNames returns the names of the time zones that a query asks for.
func (h *Handler) findNames(ctx context.Context, req *commonsv1.ListTimeZonesRequest) ([]string, error) {
	if err := fault.AtMostOne(CodeSeveral, "The request", "name, person_number, employee_id and location_id",
		req.GetName() != "", req.GetPersonNumber() != "", req.EmployeeId != nil, req.LocationId != nil); err != nil {
		return nil, err
	}
	person := store.Key{ID: req.GetEmployeeId(), Number: req.GetPersonNumber()}
	switch {
	case person != store.Key{} || req.EmployeeId != nil:
		name, err := h.persons.FindZone(ctx, person)
		return []string{name}, err
	case req.LocationId != nil:
		l, err := h.locations.GetLocation(ctx, &commonsv1.GetLocationRequest{Id: req.GetLocationId(), Date: req.GetDate()})
		if err != nil {
			return nil, err
		}
		return findZone(l.GetTimezoneRef().GetQualifier()), nil
	case req.GetName() != "":
		return findZone(req.GetName()), nil
	}
	return tzdb.Names(), nil
}

// findZone returns the IANA name of a zone in a list, or an empty list for an unknown name.
func findZone(name string) []string {
	if found, known := rules.FindZone(name); known {
		return []string{found}
	}
	return nil
}

// GetTimeZone returns one time zone, or 404.
func (h *Handler) GetTimeZone(ctx context.Context, req *commonsv1.GetTimeZoneRequest) (*commonsv1.TimeZone, error) {
	name, known := tzdb.FindNumber(req.GetId())
	if !known {
		return nil, fault.NotFound(CodeUnknown, fmt.Sprintf("No time zone has the id %d. GET /v1/commons/setup/timezones lists all.", req.GetId()))
	}
	return h.newTimeZone(ctx, name)
}

func (h *Handler) newTimeZone(ctx context.Context, name string) (*commonsv1.TimeZone, error) {
	location, err := tzdb.Load(name)
	if err != nil {
		return nil, err
	}
	now := clock.OfTenant(ctx, h.clock.Now()).In(location)
	offset := standardOffset(now) / int(time.Minute/time.Second)
	sign, size := '+', offset
	if offset < 0 {
		sign, size = '-', -offset
	}
	return &commonsv1.TimeZone{
		Id: tzdb.Number(name), Name: name, DisplayName: name, FullDisplayName: fmt.Sprintf("(UTC%c%02d:%02d) %s", sign, size/60, size%60, name),
		OffsetMinutes:              proto.Int32(int32(offset)), //nolint:gosec // less than a day
		EffectiveDatedTimeZoneList: []*commonsv1.DatedTimeZone{newDated(location, now.Year())},
	}, nil
}
