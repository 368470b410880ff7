package dataprovider

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
)

type locationElement = dataelement.Entry[location]

var ofLocation = []string{"LOCATION"}

func locationElements() []locationElement {
	text := func(key, label, doc string, of func(*version) string) locationElement {
		return placeOn(key, label, doc, dataelement.String, func(v *version) value { return dataelement.Text(of(v)) })
	}
	return []locationElement{
		{
			Key: "LOCATION_ID", Label: "Location id", Doc: "The id of the location.", Type: dataelement.Long, Categories: ofLocation,
			Value: func(l *location, _ at) value { return dataelement.Whole(l.id) },
		},
		{
			Key: "LOCATION_PERSISTENT_ID", Label: "Persistent id", Doc: "The id that is the same in every copy of the tenant.", Type: dataelement.String,
			Categories: ofLocation, Value: func(l *location, _ at) value { return dataelement.Text(l.persistentID) },
		},
		text("LOCATION_NAME", "Location name", "The name.", func(v *version) string { return v.name }),
		text("LOCATION_PATH", "Location path", "The names from the top down.", func(v *version) string { return v.path }),
		text("LOCATION_FULL_NAME", "Full name", "The full name.", func(v *version) string { return v.body.GetFullName() }),
		text("LOCATION_DESCRIPTION", "Description", "The description.", func(v *version) string { return v.body.GetDescription() }),
		text("LOCATION_ADDRESS", "Address", "The address.", func(v *version) string { return v.body.GetAddress() }),
		text("LOCATION_COLOR", "Color", "The color.", func(v *version) string { return v.body.GetColor() }),
		text("LOCATION_TYPE", "Location type", "The name of the type.", func(v *version) string { return v.kind }),
		text("LOCATION_JOB", "Job", "The name of the job that is done there.", func(v *version) string { return v.job }),
		text("LOCATION_EXTERNAL_ID", "External id", "The id in another system.", func(v *version) string { return v.externalID }),
		text("LOCATION_PARENT_NAME", "Parent", "The name of the location above.", func(v *version) string { return v.parentName }),
		text("LOCATION_PARENT_PATH", "Parent path", "The path of the location above.", func(v *version) string { return v.parentPath }),
		text("LOCATION_COST_CENTER", "Cost center", "The cost center.", func(v *version) string { return v.body.GetCostCenterRef().GetQualifier() }),
		text("LOCATION_CURRENCY", "Currency", "The currency.", func(v *version) string { return v.body.GetCurrencyRef().GetQualifier() }),
		text("LOCATION_TIME_ZONE", "Time zone", "The time zone.", func(v *version) string { return v.body.GetTimezoneRef().GetQualifier() }),
		placeOn("LOCATION_PARENT_ID", "Parent id", "The id of the location above.", dataelement.Long, func(v *version) value {
			if v.parentID == nil {
				return value{}
			}
			return dataelement.Whole(*v.parentID)
		}),
		placeOn("LOCATION_DEPTH", "Depth", "How deep in the tree, 1 at the top.", dataelement.Long,
			func(v *version) value { return dataelement.Whole(int64(v.depth)) }),
		placeOn("LOCATION_TRANSFERABLE", "Transferable", "Whether employees may be transferred there.", dataelement.Boolean,
			func(v *version) value { return optionalBool(v.body.Transferable) }),
		placeOn("LOCATION_DIRECT_WORK_PERCENT", "Direct work", "The percentage of direct work.", dataelement.Long,
			func(v *version) value { return percent(v.body.DirectWorkPercent) }),
		placeOn("LOCATION_INDIRECT_WORK_PERCENT", "Indirect work", "The percentage of indirect work.", dataelement.Long,
			func(v *version) value { return percent(v.body.IndirectWorkPercent) }),
		placeOn("LOCATION_EFFECTIVE_DATE", "Effective date", "Since when the location is what it is.", dataelement.Date,
			func(v *version) value { return dataelement.Day(v.since) }),
		placeOn("LOCATION_EXPIRATION_DATE", "Expiration date", "The last day of what the location is, 3000-01-01 without end.", dataelement.Date,
			func(v *version) value { return dataelement.Day(lastDay(civil.Range{From: v.since, To: v.until})) }),
		{
			Key: "LOCATION_CHILD_COUNT", Label: "Locations below", Doc: "How many locations stand right below, on the last day.",
			Type: dataelement.Long, Categories: ofLocation, Series: true, Needs: needChildren,
			Value: func(l *location, at at) value { return dataelement.Whole(l.children[at.Last()]) },
		},
		{
			Key: "LOCATION_EMPLOYEE_COUNT", Label: "Employees", Doc: "How many employed persons have their primary job there or below, on the last day.",
			Type: dataelement.Long, Categories: ofLocation, Series: true, Needs: needHeads,
			Value: func(l *location, at at) value { return dataelement.Whole(l.heads[at.Last()]) },
		},
	}
}

// placeOn returns an element that shows a property of a location on the last day.
func placeOn(key, label, doc string, kind dataelement.Type, of func(*version) value) locationElement {
	return locationElement{
		Key: key, Label: label, Doc: doc, Type: kind, Categories: ofLocation, Series: true,
		Value: func(l *location, at at) value {
			if v := l.on(at.Last()); v != nil {
				return of(v)
			}
			return value{}
		},
	}
}

func percent(p *int32) value {
	if p == nil {
		return value{}
	}
	return dataelement.Whole(int64(*p))
}
