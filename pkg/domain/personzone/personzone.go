// Package personzone knows the time zones of persons from day to day, as commons publishes them.
package personzone

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// NameOn returns the name of the time zone of a person on a day. The name that is passed is that of the last one.
func NameOn(name string, dated *commonsv1.PersonZones, day civil.Date) string {
	list := asList(name, dated)
	out := list[0].GetName()
	for _, z := range list[1:] {
		if civil.Date(z.GetFrom()) <= day {
			out = z.GetName()
		}
	}
	return out
}

// asList returns dated zones, or the one that holds on all days.
func asList(name string, dated *commonsv1.PersonZones) []*commonsv1.PersonZone {
	list := dated.GetZones()
	if n := len(list); n == 0 || list[n-1].GetName() != name {
		return []*commonsv1.PersonZone{{From: int32(civil.Beginning), Name: name}}
	}
	return list
}

// Append returns the time zones of a person who gets another one from a day on, and who had an older
// one, and perhaps dated ones, before; nil if the new one is the only one.
func Append(before string, dated *commonsv1.PersonZones, name string, from civil.Date) *commonsv1.PersonZones {
	out := &commonsv1.PersonZones{}
	for _, z := range asList(before, dated) {
		if civil.Date(z.GetFrom()) < from {
			out.Zones = append(out.Zones, z)
		}
	}
	if n := len(out.GetZones()); n == 0 || out.GetZones()[n-1].GetName() != name {
		out.Zones = append(out.Zones, &commonsv1.PersonZone{From: int32(from), Name: name})
	}
	if len(out.GetZones()) == 1 {
		return nil
	}
	return out
}

// Clocks returns the clocks of a person. The name is that of the last time zone. Dated zones with
// another last one are ignored: a program of the release before changed the person, and knows only
// the name.
func Clocks(zones *civil.Zones, name string, dated *commonsv1.PersonZones) (civil.Clocks, error) {
	var out civil.Clocks
	for i, z := range asList(name, dated) {
		zone, err := zones.Get(z.GetName())
		if err != nil {
			return out, fmt.Errorf("time zone %q of a person: %w", z.GetName(), err)
		}
		if i == 0 {
			out = civil.NewClocks(zone)
		} else {
			out = out.From(civil.Date(z.GetFrom()), zone)
		}
	}
	return out, nil
}

// Encode returns dated zones as the bytes of a column, empty for none.
func Encode(dated *commonsv1.PersonZones) ([]byte, error) {
	if len(dated.GetZones()) == 0 {
		return []byte{}, nil
	}
	return proto.Marshal(dated)
}

// Decode returns the dated zones of a column, nil for none.
func Decode(column []byte) (*commonsv1.PersonZones, error) {
	if len(column) == 0 {
		return nil, nil
	}
	out := &commonsv1.PersonZones{}
	return out, proto.Unmarshal(column, out)
}

// Read returns the clocks of a person whose time zones are in two columns.
func Read(zones *civil.Zones, name string, column []byte) (civil.Clocks, error) {
	dated, err := Decode(column)
	if err != nil {
		return civil.Clocks{}, fmt.Errorf("decode time zones of a person: %w", err)
	}
	return Clocks(zones, name, dated)
}
