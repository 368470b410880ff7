package extension

import commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"

// Contacts returns the email addresses, telephone numbers and postal addresses of a person.
func Contacts(info *commonsv1.PersonInformation) ([]*commonsv1.ExtensionEmail, []*commonsv1.ExtensionTelephone, []*commonsv1.ExtensionPostalAddress) {
	emails := mapList(info.GetEmailAddresses(), func(e *commonsv1.EmailAddress) *commonsv1.ExtensionEmail {
		return &commonsv1.ExtensionEmail{
			ContactType: e.GetContactTypeName(), ContactData: e.GetAddress(), HasEmailNotificationDelivery: e.HasEmailNotificationDelivery,
		}
	})
	telephones := mapList(info.GetTelephoneNumbers(), func(t *commonsv1.TelephoneNumber) *commonsv1.ExtensionTelephone {
		return &commonsv1.ExtensionTelephone{ContactType: t.GetContactTypeName(), ContactData: t.GetPhoneNumber(), Smsswitch: t.IsSmsSwitch}
	})
	addresses := mapList(info.GetPostalAddresses(), func(a *commonsv1.PostalAddress) *commonsv1.ExtensionPostalAddress {
		return &commonsv1.ExtensionPostalAddress{
			ContactType: a.GetContactTypeName(), Street: a.GetStreet(), City: a.GetCity(), State: a.GetState(),
			ZipCode: a.GetPostalCode(), Country: a.GetCountry(),
		}
	})
	return emails, telephones, addresses
}
