package fault

// Our own codes. They are for conditions without a code in the specified API. A code is never
// reused for another condition.
const (
	// CodeBadRequest (400): the request is malformed in a way that no other code describes.
	CodeBadRequest = "WRL-00400"
	// CodeUnauthenticated (401): the access token is missing, malformed,
	// expired or not accepted here.
	CodeUnauthenticated = "WRL-00401"
	// CodeRevoked (401): the access token was revoked.
	CodeRevoked = "WRL-00402"
	// CodeForbidden (403): the operation is not open to this kind of caller, for example an
	// operation between services called by a user.
	CodeForbidden = "WRL-00403"
	// CodeNotFound (404): nothing exists at the path.
	CodeNotFound = "WRL-00404"
	// CodeMethodNotAllowed (405): the path does not support the method.
	CodeMethodNotAllowed = "WRL-00405"
	// CodeSlow (408): the body of the request did not arrive in time.
	CodeSlow = "WRL-00408"
	// CodeConflict (409): the current state does not allow the change. Follow the message.
	CodeConflict = "WRL-00409"
	// CodeTooLarge (413): the body of the request, or the response, is too
	// large.
	CodeTooLarge = "WRL-00413"
	// CodeMediaType (415): the content type is not supported.
	CodeMediaType = "WRL-00415"
	// CodeKey (400): the Idempotency-Key is malformed. Send one text of 1 to 255 printable ASCII
	// characters.
	CodeKey = "WRL-00420"
	// CodeKeyReused (422): the Idempotency-Key was used for another request.
	CodeKeyReused = "WRL-00422"
	// CodeKeyRunning (409): the first request with the Idempotency-Key is still running. Send the
	// request again in a moment.
	CodeKeyRunning = "WRL-00423"
	// CodeResponseNotStored (409): the request with the Idempotency-Key was carried out, and its
	// response cannot be repeated: it was too large, or the caller sees other persons now. Read the
	// objects that the request changed.
	CodeResponseNotStored = "WRL-00424"
	// CodeFull (409): the tenant already has the largest allowed number of objects of this kind.
	// Delete unused objects first.
	CodeFull = "WRL-00425"
	// CodeHTTPSOnly (403): the request came over plain HTTP. Use an https:// address.
	CodeHTTPSOnly = "WRL-00426"
	// CodeThrottled (429): the caller sends too many requests.
	CodeThrottled = "WRL-00429"
	// CodeOwnRecord (403): the operation would change the record of the person who calls it, or of
	// the person whom the caller stands in for. Ask another user to do it.
	CodeOwnRecord = "WRL-00430"
	// CodeWages (403): the request states wages, which needs the permission for wages.
	// Leave them out, or use an account that has the permission.
	CodeWages = "WRL-00431"
	// CodeCanceled (503): the caller disconnected before the response was ready. Send the request
	// again.
	CodeCanceled = "WRL-00499"
	// CodeInternal (500): the server failed.
	CodeInternal = "WRL-00500"
	// CodeUnavailable (503): a dependency is temporarily unavailable.
	CodeUnavailable = "WRL-00503"
	// CodeDeadline (504): the response was not ready in time.
	CodeDeadline = "WRL-00504"
	// CodeOverloaded (503): the largest allowed number of requests is running.
	CodeOverloaded = "WRL-00505"
	// CodeIdentityUnavailable (503): the token cannot be checked because the keys or the
	// revocations are not up to date.
	CodeIdentityUnavailable = "WRL-00506"
)

// Generic codes of the specified API, used by every domain.
const (
	// CodeProductLimit (413): a product of two counts exceeds a limit.
	CodeProductLimit = "WFP-90001"
	// CodeItemLimit (413): too many items in one request.
	CodeItemLimit = "WFP-90003"
	// CodeStale (409, 412): the object was changed since it was read. Read the object again, and
	// repeat the change where it still applies. The status is 412 if If-Match names the version that
	// was read.
	CodeStale = "WFP-90004"
	// CodeNotPermitted (403): the caller lacks the permission.
	CodeNotPermitted = "WFP-90005"
	// CodeStructure (400): the structure of the JSON does not match the property, for example an
	// object instead of a list.
	CodeStructure = "WFP-90009"
	// CodeValue (400): the value cannot be converted to the type of the property, or is not an
	// allowed value.
	CodeValue = "WFP-90010"
	// CodeMixedScripts (400): a word of a name has letters of several scripts, for example a Latin
	// word with a Cyrillic letter in it. Write each word in one script.
	CodeMixedScripts = "WRL-00427"
	// CodeUnknownProperty (400): the property does not exist.
	CodeUnknownProperty = "WFP-90011"
	// CodeNoAccess (403): the permissions of the caller, or the employees whom the caller sees, do
	// not suffice.
	CodeNoAccess = "WFP-90012"
	// CodeDate (400): the text is not a date.
	CodeDate = "WFP-90100"
	// CodeTime (400): the text is not a time.
	CodeTime = "WFP-90101"
	// CodeInput (400): the input as a whole is inconsistent, for example a required property is
	// null or an end lies before its start.
	CodeInput = "API-10001"
	// CodeBulkFailed (207, 400): a bulk operation finished with errors.
	CodeBulkFailed = "WCO-101271"
	// CodeBulkPartly (207, 400): some elements of a bulk operation failed.
	CodeBulkPartly = "WCO-101272"
)
