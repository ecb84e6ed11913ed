"""Sentence patterns for the example dialogs; see dealership_messages for the notation.

``{car}`` stands for the model with whatever details the customer gives, such as "new Tarvo Sport".
"""

CONDITIONS: dict[str, list[str]] = {"new": ["new", "brand new"], "used": ["used", "second-hand", "pre-owned"]}

MESSAGES: dict[str, list[str]] = {
    "total_cost": [
        "How much is [a|the] {car}?",
        "What does [a|the] {car} cost on the road?",
        "Hi, what would I pay for the {car} all in?",
        "What is the total price of the {car}, with taxes?",
        "Hello, how much for the {car} in total?",
        "How much do your cars cost out the door?",
        "What's the final price for a {car}?",
        "Can you tell me the price of the {car}?",
        "I'd like to know how much a {car} costs.",
    ],
    "car_price": [
        "What is the list price of the {car}?",
        "What's the sticker price for a {car}?",
        "What is the base price of the {car} before taxes?",
        "How much is the {car} without taxes?",
        "And the list price?",
    ],
    "discount": [
        "Is there any discount on the {car}?",
        "What discounts do you have [right now|this month]?",
        "Can you do the {car} any cheaper?",
        "Do you have a special offer for the {car}?",
        "Are there rebates on a {car} in {month}?",
        "Any chance of a better deal on the {car}?",
        "Hi, how much money off do I get on a {car}?",
    ],
    "availability": [
        "Is the {car} in stock?",
        "Do you have the {car} available in {color}?",
        "Do you have any {car} on the lot?",
        "Which cars are available right away?",
        "Hey, got any {car} ready to drive?",
        "Is a {car} in {color} available before {month}?",
    ],
    "loan": [
        "What is the interest rate for a loan on the {car}?",
        "Can I get the {car} with a monthly payment of {monthly}?",
        "How much down payment do I need?",
        "Do you offer financing over {term} months?",
        "Is leasing the {car} possible?",
        "Can I pay in installments?",
    ],
    "other": [
        "Does the {car} come with {option}?",
        "Can I take a test drive with the {car} on {weekday}?",
        "How long is the waiting time for the {car}?",
        "Which car would you recommend for a family?",
        "Do you take my old car in part exchange?",
        "How many people fit into the {car}?",
        "Is it true that the {car} is going to be replaced?",
        "Do you repair the {model} too? Mine {fault}.",
        "What colors can I choose for the {car}?",
    ],
    "greeting": [
        "Hello",
        "Hi there!",
        "Good morning",
        "Hey, I saw your live stream",
        "I want to buy a car",
        "Hi, I'm looking for a car for my {relative}",
        "Anybody there?",
        "I clicked on your ad.",
    ],
    "address": [
        "Where are you located?",
        "What's your address?",
        "Where is your showroom, in {town}?",
        "Can you send me directions?",
        "How do I find you?",
    ],
    "license_plate": [
        "Can you register the car in {town}?",
        "Do you take care of the license plates?",
        "I live in another state, can I get plates there?",
        "Is registration included?",
    ],
    "assign_salesperson": [
        "Can I talk to a salesperson?",
        "Please let me speak to a human",
        "Do you have a phone number of someone from sales?",
        "Can an advisor call me?",
        "I want to speak with a real person.",
    ],
    "statement": [
        "{car}",
        "I'm looking at the {car}",
        "I'd like a {car} in {color}.",
        "I have been thinking about a {car} for my {relative}",
        "Interested in the {car}",
    ],
    "contact": [
        "{phone}",
        "My number is {phone}",
        "Call me: {phone}, thanks",
        "{email}",
        "You can reach me at {email}",
        "{first}, {phone}",
        "ok, text me at {phone} after {time}",
    ],
    "chat": [
        "Thanks!",
        "ok",
        "Thank you, bye",
        "Great stream today",
        "lol",
        "I'll think about it.",
        "Never mind",
        "That is too expensive for me",
        "See you on {weekday}",
    ],
}

# What is said after the dealership asked for something.
ANSWERS: dict[str, list[str]] = {
    "which_car": ["{car}", "The {car} please", "a {car}", "{model}", "I mean the {model}"],
    "new_or_used": ["{condition}", "A {condition} one", "{condition} please", "It would be {condition}"],
    "which_configuration": ["{trim}", "The {trim} version", "{trim} please", "the {trim}", "{trim} trim"],
}
