package holiday

import (
	"slices"
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/ru"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"
)

// The library computes midnights in its default location. Some time zones have days without a
// midnight, which the library would report as the day before.
func init() {
	cal.DefaultLoc = time.UTC
	for region, list := range regions {
		regions[region] = applyLaw(region, list)
	}
}

// regions holds the public holidays of countries, and of their parts where these differ, by
// ISO 3166 code.
var regions = map[string][]*cal.Holiday{
	"AR": ar.Holidays, "AT": at.Holidays, "BE": be.Holidays, "BG": bg.Holidays, "BR": br.Holidays, "CA": ca.Holidays,
	"CZ": cz.Holidays, "DK": dk.Holidays, "ES": es.Holidays, "FR": fr.Holidays, "GB": gb.Holidays, "GR": gr.Holidays,
	"HR": hr.Holidays, "IE": ie.Holidays, "IT": it.Holidays, "JP": jp.Holidays, "LT": lt.Holidays, "LV": lv.Holidays,
	"MW": mw.Holidays, "NL": nl.Holidays, "NO": no.Holidays, "NZ": nz.Holidays, "PL": pl.Holidays, "RO": ro.Holidays,
	"RU": ru.Holidays, "SE": se.Holidays, "SI": si.Holidays, "SK": sk.Holidays, "UA": ua.Holidays, "US": us.Holidays,
	"ZA": za.Holidays,

	"AU-ACT": au.HolidaysACT, "AU-NSW": au.HolidaysNSW, "AU-NT": au.HolidaysNT, "AU-QLD": au.HolidaysQLD,
	"AU-SA": au.HolidaysSA, "AU-TAS": au.HolidaysTAS, "AU-VIC": au.HolidaysVIC, "AU-WA": au.HolidaysWA,

	"CH": ch.Holidays, "CH-AG": ch.HolidaysAG, "CH-AI": ch.HolidaysAI, "CH-AR": ch.HolidaysAR, "CH-BE": ch.HolidaysBE,
	"CH-BL": ch.HolidaysBL, "CH-BS": ch.HolidaysBS, "CH-FR": ch.HolidaysFR, "CH-GE": ch.HolidaysGE, "CH-GL": ch.HolidaysGL,
	"CH-GR": ch.HolidaysGR, "CH-JU": ch.HolidaysJU, "CH-LU": ch.HolidaysLU, "CH-NE": ch.HolidaysNE, "CH-NW": ch.HolidaysNW,
	"CH-OW": ch.HolidaysOW, "CH-SG": ch.HolidaysSG, "CH-SH": ch.HolidaysSH, "CH-SO": ch.HolidaysSO, "CH-SZ": ch.HolidaysSZ,
	"CH-TG": ch.HolidaysTG, "CH-TI": ch.HolidaysTI, "CH-UR": ch.HolidaysUR, "CH-VD": ch.HolidaysVD, "CH-VS": ch.HolidaysVS,
	"CH-ZG": ch.HolidaysZG, "CH-ZH": ch.HolidaysZH,

	"DE": de.Holidays, "DE-BB": de.HolidaysBB, "DE-BE": de.HolidaysBE, "DE-BW": de.HolidaysBW, "DE-BY": de.HolidaysBY,
	"DE-HB": de.HolidaysHB, "DE-HE": de.HolidaysHE, "DE-HH": de.HolidaysHH, "DE-MV": de.HolidaysMV, "DE-NI": de.HolidaysNI,
	"DE-NW": de.HolidaysNW, "DE-RP": de.HolidaysRP, "DE-SH": de.HolidaysSH, "DE-SL": de.HolidaysSL, "DE-SN": de.HolidaysSN,
	"DE-ST": de.HolidaysST, "DE-TH": de.HolidaysTH,
}

// regionCodes returns the codes of all regions, sorted.
func regionCodes() []string {
	codes := make([]string, 0, len(regions))
	for code := range regions {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// public returns the public holiday of a region, or nil.
func public(region, name string) *cal.Holiday {
	for _, h := range regions[region] {
		if h.Name == name {
			return h
		}
	}
	return nil
}
