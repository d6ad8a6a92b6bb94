"""Names of persons: given names that are rarely anything else, and what persons are addressed by."""

_GIVEN = """
aaron adam adrian ahmed alan albert alberto alejandro alex alexander alexandra alfred alice alison amanda amy ana
anders andre andrea andreas andrew andrey andy angela anita ann anna anne anthony antoine antonio arnold arthur
barbara barry ben benjamin bernard bernd beth betty björn bob boris brad brian bruce bruno carl carlo carlos carol
caroline catherine charles charlie charlotte chris christina christine christoph christopher claire claude colin craig
cristina dan daniel danny dave david deborah denis dennis derek diana diego dietrich dirk dmitri donald donna doug
douglas eduardo edward elena elizabeth ellen emily emma enrique eric erik ernst eva evelyn fabio felix fernando
francesco francis francisco francois frank franz françois fred frédéric gareth gary gavin george gerald gerard gerhard
gianni giorgio giovanni giuseppe glenn gordon graham greg gregory guillaume gustavo günter hannah hans harold harry
heather heinrich heinz helen helmut henri henry howard hugo ian ibrahim igor ingrid irene isaac isabel ivan jacob
jacques james jan jane janet jason javier jean jeff jeffrey jennifer jeremy jerry jessica jill jim jimmy jo joan joe
joel johan johann johannes john johnny jon jonathan jorge jose joseph josh joshua josé juan judith julia julian julie
jürgen karen karl kate katherine kathleen katie keith kelly kenneth kevin kim klaus kurt kyle larry laura lauren
laurent lee leonard leslie linda lisa louis louise luc lucas lucia luis lukas luke manfred manuel marc marcel marco
margaret maria marie mario marion mark markus martha martin martina mary maría mathieu matt matthew matthias maurice
mehmet melissa michael michel michelle miguel mike mikhail mohamed mohammed monica muhammad mustafa nancy natalie
nathan neil nicholas nick nicola nicolas nigel nikolai olaf oliver olivia omar oscar otto pablo pamela patricia
patrick paul paula paulo pedro peter phil philip philippe pierre rachel rafael ralf ralph raymond rebecca ricardo
richard rick robert roberto robin rodrigo roger roland ronald ronnie ross roy rudolf russell ruth ryan sally sam
samantha samuel sandra sara sarah scott sean sebastian sergei sergio shane sharon simon sophie stefan stephan stephane
stephanie stephen steve steven stuart susan sven sylvia teresa terry theresa thomas tim timothy tina tom tommy tony
trevor uwe valerie vera vincent vladimir walter wayne wendy werner wilhelm william wolfgang yuri yves zoe
"""  # common ones of western languages; others are told by their capitals
_ADDRESSED = "mr mrs ms dr sir prof professor herr frau monsieur madame mme señor señora signor signora"
BEFORE = frozenset((_GIVEN + _ADDRESSED).split())
"""Words in lower case that a surname follows."""
